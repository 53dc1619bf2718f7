//! Feature codes, repeatability and elimination against naive implementations: on the Chinese
//! corpora of the folder NEARDUP_DATA (without these there is nothing to compare), and on hostile
//! codes.

use std::cmp::Reverse;
use std::collections::HashMap;

use neardup_core::clusters::elimination::{Survivor, eliminate_repeated};
use neardup_core::executor::{PlainThreads, Stop};
use neardup_core::features::codes::{CodeSpec, feature_code};
use neardup_core::hash::mix;
use neardup_core::methods::Method;
use neardup_core::methods::codes::ByCodes;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::storage::files::{NoFiles, Resources};
use neardup_core::text::paragraphs::paragraphs;
use neardup_core::verify::repeatability::repeatability;

use crate::common::corpora::{folder, names, on_all, texts};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

const MARKS: &str = "，。？！；：、,.?!;:";

fn code(text: &str) -> String {
    feature_code(text, &CodeSpec::default(), &Stop::default()).expect("memory")
}

fn similarity(container: &str, contained: &str) -> f64 {
    repeatability(container, contained, &Stop::default()).expect("memory")
}

/// The characters left and right of every anchor, as the definition says it.
fn naive_anchored(text: &[char]) -> String {
    let is_anchor = |place: isize| {
        let place = usize::try_from(place).ok().and_then(|place| text.get(place));
        place.is_none_or(|&c| MARKS.contains(c))
    };
    let mut code = String::new();
    // The start of the text, its characters and its end; of a run of anchors the left side of the
    // first and the right side of the last.
    for place in -1..=text.len() as isize {
        if is_anchor(place) {
            if place > 0 && !is_anchor(place - 1) {
                code.push(text[(place - 1) as usize]);
            }
            if place + 1 < text.len() as isize && !is_anchor(place + 1) {
                code.push(text[(place + 1) as usize]);
            }
        }
    }
    code
}

fn naive_code(text: &str) -> String {
    let cut: String = text.chars().take(1000).collect();
    let clean = |text: &str| -> Vec<char> {
        let hidden = |c: char| {
            c.is_whitespace()
                || matches!(c.general_category(), GeneralCategory::Control | GeneralCategory::Format)
        };
        text.chars().filter(|&c| !hidden(c)).collect()
    };
    let mut all: Vec<Vec<char>> = paragraphs(&cut).iter().map(|span| clean(span.slice(&cut))).collect();
    all.retain(|paragraph| !paragraph.is_empty());
    let total: usize = all.iter().map(Vec::len).sum();
    let is_unit = |paragraph: &&Vec<char>| paragraph.len() >= 300 || 4 * paragraph.len() >= 3 * total;
    let units: Vec<&Vec<char>> = all.iter().filter(is_unit).collect();
    let code: String = if !units.is_empty() {
        units.iter().map(|unit| naive_anchored(unit)).collect()
    } else if all.len() >= 10 {
        let mut ends = String::new();
        for (n, paragraph) in all.iter().enumerate() {
            let seen = paragraph.iter().position(|&c| !MARKS.contains(c));
            let last = paragraph.iter().rposition(|&c| !MARKS.contains(c));
            if let Some((first, last)) = seen.zip(last).filter(|_| n < 10 || n + 10 >= all.len()) {
                ends.push(paragraph[first]);
                if last > first {
                    ends.push(paragraph[last]);
                }
            }
        }
        ends
    } else {
        naive_anchored(&all.concat())
    };
    if code.chars().count() >= 6 { code } else { all.concat().into_iter().take(20).collect() }
}

/// The length of the longest common substring, by the table of all pairs of places.
fn longest_common(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut above = vec![0; b.len() + 1];
    let mut longest = 0;
    for c in a.chars() {
        for n in (0..b.len()).rev() {
            above[n + 1] = if b[n] == c { above[n] + 1 } else { 0 };
            longest = longest.max(above[n + 1]);
        }
    }
    longest
}

/// What goes, with a table of all substrings of the codes that stay.
fn naive_elimination(codes: &[String], [numerator, denominator]: [usize; 2]) -> Vec<Option<Survivor>> {
    let mut first: HashMap<&str, u32> = HashMap::new();
    let bounds =
        |code: &str| code.char_indices().map(|(at, _)| at).chain([code.len()]).collect::<Vec<usize>>();
    let longest = |first: &HashMap<&str, u32>, code: &str| {
        let at = bounds(code);
        let length = at.len() - 1;
        let least = (length * numerator).div_ceil(denominator);
        (least..=length).rev().find_map(|n| {
            let parts = at.iter().zip(&at[n..]).map(|(&from, &to)| &code[from..to]);
            let place = parts.filter_map(|part| first.get(part)).min()?;
            Some(Survivor { place: *place, similarity: n as f64 / length as f64 })
        })
    };
    let mut stays = vec![false; codes.len()];
    for (place, code) in codes.iter().enumerate() {
        stays[place] = longest(&first, code).is_none();
        if stays[place] {
            let at = bounds(code);
            for n in 1..at.len() {
                for (&from, &to) in at.iter().zip(&at[n..]) {
                    first.entry(&code[from..to]).or_insert(place as u32);
                }
            }
        }
    }
    let all = codes.iter().zip(stays);
    all.map(|(code, stays)| if stays { None } else { longest(&first, code) }).collect()
}

/// Codes that there are, longest first, those of equal length in the order of their documents.
fn in_order(mut codes: Vec<String>) -> Vec<String> {
    codes.retain(|code| !code.is_empty());
    codes.sort_by_key(|code| Reverse(code.chars().count()));
    codes
}

fn check_elimination(name: &str, codes: &[String]) {
    for (threshold, share) in [(0.75, [3, 4]), (1.0, [1, 1]), (0.5, [1, 2])] {
        let expected = naive_elimination(codes, share);
        // All in one block, and in a few.
        for (budget, threads) in [(usize::MAX / 4, 1), (1 << 21, 3)] {
            let found = eliminate_repeated(codes, threshold, budget, &PlainThreads(threads)).expect("memory");
            assert_eq!(found, expected, "{name} {threshold} {budget}");
        }
        let gone = expected.iter().flatten().count();
        println!("{name}: {gone} of {} codes go at {threshold}", codes.len());
    }
}

/// The method goes the whole way, from texts to what goes for which row.
fn check_method(name: &str, texts: &[String], codes: &[String]) {
    // Longest first, those of equal length in the order of their documents; no code, no part in it.
    let mut rows: Vec<usize> = (0..codes.len()).filter(|&row| !codes[row].is_empty()).collect();
    rows.sort_by_key(|&row| Reverse(codes[row].chars().count()));
    let ordered: Vec<String> = rows.iter().map(|&row| codes[row].clone()).collect();
    let mut expected: Vec<(u32, f64)> = (0..texts.len() as u32).map(|row| (row, 1.0)).collect();
    for (&row, kept) in rows.iter().zip(naive_elimination(&ordered, [3, 4])) {
        if let Some(Survivor { place, similarity }) = kept {
            expected[row] = (rows[place as usize] as u32, similarity);
        }
    }
    let method = ByCodes { spec: CodeSpec::default(), threshold: Some(0.75) };
    let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
    let resources = Resources { files: &NoFiles, budget: 1 << 30, executor: &PlainThreads(2) };
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let (order, leaders) = method.eliminate(&mut reading).expect("memory").expect("a threshold");
    assert!(order.iter().copied().eq(0..texts.len() as u32));
    let found: Vec<(u32, f64)> = leaders.of.into_iter().zip(leaders.similarity).collect();
    assert!(found == expected, "{name}: {:?}", found.iter().zip(&expected).find(|(a, b)| a != b));
}

/// Short items of news in an alphabet, each of its own: sentences begin and end with few letters,
/// so codes are equal by chance and most of what goes is near nothing that stays. The call says so
/// of these, not of codes of Chinese characters.
#[test]
fn short_news_in_an_alphabet() {
    let pick = |seed: u64, of: &[&str]| of[(mix(seed) % of.len() as u64) as usize].to_owned();
    let word = |seed: u64| -> String {
        (0..4).map(|n| char::from(b'a' + (mix(seed << 4 | n) % 26) as u8)).collect()
    };
    let item = |item: u64| -> String {
        let sentence = |n: u64| {
            let seed = item << 8 | n << 4;
            let (first, last) = (pick(seed, &["The", "A", "In"]), pick(seed + 1, &["ed", "s", "e"]));
            format!("{first} {} {} {}{last}. ", word(seed + 2), word(seed + 3), word(seed + 4))
        };
        (0..2 + item % 3).map(sentence).collect()
    };
    // Every tenth is the one before.
    let items: Vec<String> = (0..344).map(|n| item(if n % 10 == 9 { n - 1 } else { n })).collect();
    let method = ByCodes { spec: CodeSpec::default(), threshold: Some(0.75) };
    let resources = Resources { files: &NoFiles, budget: 1 << 30, executor: &PlainThreads(2) };
    let eliminated = |texts: &[String]| {
        let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
        let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
        let (_, leaders) = method.eliminate(&mut reading).expect("memory").expect("a threshold");
        let gone: Vec<_> = (0..).zip(leaders.of).filter(|(row, stays)| row != stays).collect();
        (gone, reading.account.codes)
    };
    let (gone, codes) = eliminated(&items);
    let right = gone.iter().filter(|&&(row, stays)| items[row as usize] == items[stays as usize]).count();
    assert!(gone.len() > 100 && 3 * right < gone.len(), "{right} of {}", gone.len());
    assert!(codes.are_many(), "{codes}");
    let chinese = |n: u64| -> String {
        let character =
            |k: u64| char::from_u32(0x4e00 + (mix(n << 16 | k) % 3000) as u32).expect("a character");
        (0..200).map(|k| if k % 7 == 6 { '，' } else { character(k) }).collect()
    };
    let (gone, codes) =
        eliminated(&(0..344).map(|n| chinese(if n % 10 == 9 { n - 1 } else { n })).collect::<Vec<_>>());
    assert_eq!(gone.len(), 34);
    assert!(!codes.are_many(), "{codes}");
}

#[test]
fn vectors() {
    let text = "系统采用的特征码提取算法是基于语法获取特征的方法。这种方法将网页内容看成字符流，以一些标点符号和\
                常用汉字作为锚点，从网页内容中抽取文字作为网页特征码。";
    assert_eq!(code(text), "系法这流以点从码");
    assert_eq!(naive_code(text), "系法这流以点从码");
    let [a, b] = ["王示一差站高只事就示对题最机给害严府形象", "在中哈服地统学责水造和海一七最座成架人"];
    assert_eq!(longest_common(a, b), 1);
    assert_eq!((similarity(a, b), similarity(b, a)), (1.0 / 19.0, 1.0 / 20.0));
}

#[test]
fn hostile_codes() {
    let fibonacci = |n: usize| {
        let mut words = ["b".to_owned(), "a".to_owned()];
        for _ in 0..n {
            words = [words[1].clone(), format!("{}{}", words[1], words[0])];
        }
        words[1].clone()
    };
    let codes = [
        // All alike; many substrings in common; one character; nothing in common but one substring.
        (0..400).map(|_| "甲".repeat(40)).collect(),
        (1..200).map(|n| "甲".repeat(n)).collect(),
        (1..12).map(fibonacci).collect(),
        (0..64).map(|n| format!("{n:06b}")).collect(),
        (0..300).map(|n| char::from_u32(0x4e00 + n).expect("a character").to_string()).collect(),
        (0..300).map(|n| format!("{n:03}一二三四五六七八九")).collect::<Vec<String>>(),
    ];
    for (n, codes) in codes.into_iter().enumerate() {
        check_elimination(&format!("hostile codes {n}"), &in_order(codes));
    }
}

#[test]
fn corpora() {
    let Some(data) = folder("codes") else { return };
    for name in names(&data).into_iter().filter(|name| name.contains("zh_")) {
        let texts = texts(&data, &name);
        let codes = on_all(&texts, || (), |(), text| code(text));
        let naive = on_all(&texts, || (), |(), text| naive_code(text));
        for ((code, naive), text) in codes.iter().zip(&naive).zip(&texts) {
            assert_eq!(code, naive, "{name}: {text}");
        }
        check_method(&name, &texts, &codes);
        let codes = in_order(codes);
        // Codes of about the same length, and those of unlike lengths.
        let pairs: Vec<(&String, &String)> = codes
            .windows(2)
            .map(|pair| (&pair[0], &pair[1]))
            .chain(codes.iter().zip(codes.iter().rev()))
            .collect();
        let differ = on_all(
            &pairs,
            || (),
            |(), (a, b)| {
                let common = longest_common(a, b) as f64;
                let share = |code: &str| common / code.chars().count() as f64;
                similarity(a, b) != share(b) || similarity(b, a) != share(a)
            },
        );
        assert_eq!(differ.iter().position(|&differs| differs), None, "{name}");
        check_elimination(&name, &codes);
    }
}
