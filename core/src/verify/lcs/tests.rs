//! The bit-parallel algorithm and the one by diagonals against a filled table.

use super::*;
use crate::tests::edited_texts::{edited, of_script};
use proptest::prelude::*;

/// Fills in the table cell by cell, as in the definition.
pub(in crate::verify) fn table(a: &[u32], b: &[u32]) -> Vec<Vec<usize>> {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..a.len() {
        for j in 0..b.len() {
            table[i + 1][j + 1] =
                if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
        }
    }
    table
}

/// Reads the alignment from the table by the rule.
pub(in crate::verify) fn alignment(a: &[u32], b: &[u32], table: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let (mut i, mut j) = (a.len(), b.len());
    let mut found = Vec::new();
    while i > 0 && j > 0 {
        if a[i - 1] == b[j - 1] {
            (i, j) = (i - 1, j - 1);
            found.push((i, j));
        } else if table[i - 1][j] == table[i][j] {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    found
}

fn check(a: &[u32], b: &[u32]) {
    let stop = Stop::default();
    let mut lcs = Lcs::default();
    let table = table(a, b);
    let expected = table[a.len()][b.len()];
    let rule = alignment(a, b, &table);
    assert_eq!(rule.len(), expected);
    for least in [0, expected / 2, expected.saturating_sub(1), expected, expected + 1, usize::MAX] {
        let wanted = (expected >= least).then_some(expected);
        for known in [0, expected / 2, expected] {
            let bounds = LcsBounds { least, known };
            assert_eq!(lcs.length(a, b, bounds, &stop).unwrap(), wanted, "{bounds:?}");
            assert_eq!(lcs.length(b, a, bounds, &stop).unwrap(), wanted, "{bounds:?}");
        }
    }
    let mut found = Vec::new();
    for (least, known) in [(expected, 0), (0, expected / 2), (0, expected)] {
        found.clear();
        assert!(lcs.matches(a, b, LcsBounds { least, known }, &stop, |x, y| found.push((x, y))).unwrap());
        assert_eq!(found, rule);
    }
    let more = LcsBounds::least(expected + 1);
    assert!(!lcs.matches(a, b, more, &stop, |_, _| panic!("too few")).unwrap());
    if a.is_empty() || b.is_empty() {
        return;
    }
    // Checks each algorithm separately.
    let distance = a.len() + b.len() - 2 * expected;
    let mut greedy = Greedy::default();
    assert_eq!(greedy.compare(a, b, distance, &stop).unwrap(), Reached::End(distance));
    found.clear();
    greedy.trace(a, b, distance, |x, y| found.push((x, y)));
    assert_eq!(found, rule);
    if distance > 0 {
        assert!(matches!(greedy.compare(a, b, distance - 1, &stop).unwrap(), Reached::Far(_)));
    }
    let mut band = Band::default();
    let apart = a.len().abs_diff(b.len());
    for limit in [distance, distance + 1, distance + 70, a.len() + b.len()] {
        assert_eq!(band.distance::<false>(a, b, limit, &stop).unwrap(), Some(distance));
        for budget in [1, 40, usize::MAX] {
            found.clear();
            band.trace(a, b, limit, budget, &stop, &mut |x, y| found.push((x, y))).unwrap();
            assert_eq!(found, rule, "limit {limit}, budget {budget}");
        }
    }
    if distance > apart {
        assert_eq!(band.distance::<false>(a, b, distance - 1, &stop).unwrap(), None);
        assert_eq!(band.distance::<false>(a, b, apart, &stop).unwrap(), None);
    }
}

fn numbers(text: &[char]) -> Vec<u32> {
    text.iter().map(|&c| c.into()).collect()
}

proptest! {
    #![proptest_config(crate::cases::cases(300))]

    #[test]
    fn equals_the_table((a, b) in edited(300, 60)) {
        check(&numbers(&a), &numbers(&b));
    }

    #[test]
    fn equals_the_table_in_every_script(
        script in 0..4u8,
        other in 0..4u8,
        a in prop::collection::vec(0..8u8, 0..200),
        b in prop::collection::vec(0..8u8, 0..200),
    ) {
        let in_script = |script, text: &[u8]| -> Vec<u32> {
            // The symbols are those that the functions read from a text.
            symbols(&text.iter().map(|&n| of_script(script, n)).collect::<String>()).unwrap()
        };
        let (a, b, apart) = (in_script(script, &a), in_script(script, &b), in_script(other, &b));
        let reversed: Vec<u32> = a.iter().rev().copied().collect();
        for other in [&b, &apart, &reversed, &a, &[a.clone(), b.clone()].concat(), &Vec::new()] {
            check(&a, other);
        }
    }

    #[test]
    fn equals_the_table_for_unrelated_texts(
        a in prop::collection::vec(0..3u32, 0..300),
        b in prop::collection::vec(0..3u32, 0..300),
    ) {
        check(&a, &b);
    }
}

#[test]
fn known_texts() {
    let of = |a: &str, b: &str| check(&symbols(a).unwrap(), &symbols(b).unwrap());
    for (a, b) in [
        ("", ""),
        ("", "abc"),
        ("abcabba", "cbabac"),
        ("the same", "the same"),
        ("漢字かな交じり", "字かな"),
        ("😀😁😂", "😂😁😀"),
        ("abc", "xyz"),
    ] {
        of(a, b);
    }
    let text: Vec<u32> = (0..2500u32).map(|n| n * n % 61).collect();
    let reversed: Vec<u32> = text.iter().rev().copied().collect();
    check(&text, &reversed);
    check(&text[..700], &text[300..]);
    for n in [63, 64, 65, 128, 129, 1023, 1024, 1025] {
        check(&text[..n], &reversed[..n]);
        check(&text[..n], &text[..n - 1]);
    }
}

/// Compares a megabyte each of ASCII, Chinese and emoji: texts that differ little, are equal,
/// contain one another, have nothing in common, or are each other's reverse.
#[test]
fn large_texts() {
    for script in 0..4u8 {
        let character = |n| of_script(script, (crate::hash::mix(n) % 8) as u8);
        let mut bytes = 0;
        let characters = (0..).map(character).take_while(|c| {
            bytes += c.len_utf8();
            bytes <= 1 << 20
        });
        let text = symbols(&characters.collect::<String>()).unwrap();
        let (stop, mut lcs) = (Stop::default(), Lcs::default());
        let mut edited = text.clone();
        (0..100).for_each(|n| edited[n * 2000] = u32::from('x'));
        let most = Some(text.len() - 100);
        assert_eq!(lcs.length(&text, &edited, LcsBounds::default(), &stop).unwrap(), most);
        let mut matched = 0;
        lcs.matches(&text, &edited, LcsBounds::default(), &stop, |_, _| matched += 1).unwrap();
        assert_eq!(Some(matched), most);
        assert_eq!(lcs.length(&text, &text, LcsBounds::default(), &stop).unwrap(), Some(text.len()));
        assert_eq!(lcs.length(&text, &text[1000..5000], LcsBounds::default(), &stop).unwrap(), Some(4000));
        assert_eq!(lcs.length(&text, &[u32::from('x'); 900], LcsBounds::default(), &stop).unwrap(), Some(0));
        let reversed: Vec<u32> = text.iter().rev().copied().collect();
        assert_eq!(lcs.length(&text, &reversed, LcsBounds::least(text.len() - 4000), &stop).unwrap(), None);
        stop.request();
        assert_eq!(lcs.length(&text, &reversed, LcsBounds::default(), &stop), Err(Error::Stopped));
    }
}

/// A comparison that would take hours is an error.
#[test]
fn texts_that_are_too_different() {
    assert!(check_steps(&[0; 1], &vec![1; 1 << 20], 1 << 21).is_ok());
    assert_eq!(
        check_steps(&vec![0; 1 << 23], &vec![1; 1 << 23], 1 << 24),
        Err(Error::TooDifferent { characters: 1 << 24 })
    );
}
