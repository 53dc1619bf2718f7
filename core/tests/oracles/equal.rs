//! Equal documents, however many and whatever they hold, are pairs by every method; what a method
//! cannot find it counts.

use std::collections::HashSet;

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::features::imatch::IdfRange;
use neardup_core::features::spotsigs::SpotSpec;
use neardup_core::features::units::signatures::Features;
use neardup_core::hash::mix;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::imatch::Imatch;
use neardup_core::methods::passages;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::passages::{Parameters, Passage};
use neardup_core::storage::files::Resources;
use neardup_core::verify::measure::Measure;

use crate::common::methods::all_methods;
use crate::common::run::{ENOUGH, find};

/// Long ones, short ones, of another script, and without letters and digits.
const TEXTS: [&str; 6] = [
    "The meeting of the two ministers in the capital ended without a word to the press. It had lasted for an hour. \
     A second one will be held in the spring, said a spokesman of the government.",
    "Crane, quay, north",
    "quay quay quay quay",
    "起重机三月移到北码头。没有人看见。那是一个黑夜。第二天下雨了。",
    "😂😂😂",
    "----------\n==========",
];

const COUNTS: [usize; 5] = [2, 3, 5, 12, 50];

#[test]
fn of_every_method() {
    for text in TEXTS {
        for count in COUNTS {
            let texts = vec![text; count];
            for (name, method) in all_methods() {
                let (found, account) = find(&*method, Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
                // These have no chain, and no common word either that begins one.
                let unsigned = name == "spotsigs" && (text == TEXTS[1] || text == TEXTS[2]);
                let expected = if unsigned { 0 } else { count * (count - 1) / 2 };
                assert_eq!(found.len(), expected, "{name}, {count} of {text}");
                assert!(found.iter().all(|&(.., similarity)| similarity == 1f64.to_bits()));
                assert_eq!(account.unsigned.are_many(), account.unsigned.count > 0, "{name}");
                if unsigned {
                    assert_eq!((account.unsigned.count, account.unsigned.of), (count as u64, count as u64));
                }
            }
        }
    }
}

/// How many passages there are, and how many sentences have no signature.
fn passages_of(texts: &[String], features: Features) -> (usize, u64) {
    let (found, unsigned) = all_passages_of(texts, features);
    (found.len(), unsigned)
}

/// The passages, and how many sentences have no signature.
fn all_passages_of(texts: &[String], features: Features) -> (Vec<Passage>, u64) {
    let parameters = Parameters { features, ..Parameters::default() };
    let executor = PlainThreads(2);
    let resources =
        Resources { files: &neardup_core::storage::files::MemoryFiles, budget: 1 << 30, executor: &executor };
    let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let mut search = passages::search(&parameters, &mut reading).unwrap();
    let unsigned = reading.account.unsigned.count;
    let mut found = Vec::new();
    while let Some(batch) = search.next_batch(resources.executor).unwrap() {
        found.extend(batch);
    }
    (found, unsigned)
}

#[test]
fn of_every_feature_of_passages() {
    for text in [TEXTS[0], TEXTS[3]] {
        for count in COUNTS {
            let texts = vec![text.to_owned(); count];
            let pairs = count * (count - 1) / 2;
            for features in [
                Features::Imatch(IdfRange::default()),
                Features::Imatch(IdfRange::new(0.4, 0.6).unwrap()),
                Features::Shingles(4),
            ] {
                assert_eq!(
                    passages_of(&texts, features.clone()),
                    (pairs, 0),
                    "{features:?}, {count} of {text}"
                );
            }
        }
    }
    let texts = vec![TEXTS[0].to_owned(); 5];
    assert_eq!(passages_of(&texts, Features::Spotsigs(SpotSpec::default())), (10, 0));
    // A sentence with no common word, or with none that a telling one follows, has no chain.
    let texts = vec!["Cranes moved boxes. The crane moved a box. Boats sank. Nobody saw it.".to_owned(); 3];
    let (found, unsigned) = passages_of(&texts, Features::Spotsigs(SpotSpec::default()));
    assert_eq!((found, unsigned), (0, 9));
}

/// A passage that more than half of the documents share, so that none of its words is rare.
#[test]
fn a_passage_that_most_documents_share() {
    let own = |n: u64| -> String {
        let words: Vec<_> = (0..12).map(|k| format!("w{}", mix(n << 8 | k) % 1_000_000)).collect();
        format!("Of {}", words.join(" "))
    };
    for shared in [400, 520, 700u64] {
        let texts: Vec<String> = (0..1000)
            .map(|n| match n < shared {
                true => format!(
                    "{}. The crane moved to the north quay. It was a dark night. No one saw it. {}.",
                    own(n),
                    own(n + 5000)
                ),
                false => format!("{}. {}.", own(n), own(n + 5000)),
            })
            .collect();
        let pairs = (shared * (shared - 1) / 2) as usize;
        assert_eq!(passages_of(&texts, Features::Imatch(IdfRange::default())), (pairs, 0), "{shared}");
    }
}

/// Pages of one site: a frame of many sentences, and an article. Of 500 each has its own; others
/// are equal.
#[test]
fn template_pages_among_others_of_the_frame() {
    let sentence = |n: u64, words: u64| -> String {
        let words: Vec<_> = (0..words).map(|k| format!("word{}", mix(n << 8 | k) % 3000)).collect();
        format!("The {} is a {}.", words[0], words[1..].join(" "))
    };
    let page = |article: u64| -> String {
        let frame = |from: u64| (from..from + 6).map(|n| sentence(n, 6)).collect::<Vec<_>>().join(" ");
        let body: Vec<_> = (0..4).map(|n| sentence(1000 + 100 * article + n, 7)).collect();
        format!("{} {} {}", frame(0), body.join(" "), frame(50))
    };
    let mut texts: Vec<String> = (0..500).map(page).collect();
    let mut equal = Vec::new();
    for (group, count) in [2, 3, 5, 12, 50].into_iter().enumerate() {
        // Not side by side.
        for _ in 0..count {
            let place = texts.len() as u32;
            equal.push((group, place));
            texts.push(page(700 + group as u64));
        }
    }
    let expected: Vec<(u32, u32)> = (equal.iter())
        .flat_map(|&(group, a)| {
            equal.iter().filter(move |&&(other, b)| other == group && a < b).map(move |&(_, b)| (a, b))
        })
        .collect();
    for (name, method) in all_methods() {
        let (found, account) = find(&*method, Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
        let pairs: HashSet<(u32, u32)> = found.iter().map(|&(a, b, _)| (a, b)).collect();
        let missing: Vec<_> = expected.iter().filter(|pair| !pairs.contains(pair)).collect();
        assert!(missing.is_empty(), "{name}: {} of {} missing: {missing:?}", missing.len(), expected.len());
        assert_eq!(account.unsigned.count, 0, "{name}");
    }
    // Of passages each pair of equal pages has one that is the whole page, and every other pair
    // those of the frame.
    let few: Vec<String> = texts[495..].to_vec();
    for features in [
        Features::Imatch(IdfRange::default()),
        Features::Shingles(4),
        Features::Spotsigs(SpotSpec::default()),
    ] {
        let (found, unsigned) = all_passages_of(&few, features.clone());
        assert_eq!(unsigned, 0, "{features:?}");
        let pairs: HashSet<(u32, u32)> = found.iter().map(|p| (p.left_row, p.right_row)).collect();
        assert_eq!(pairs.len(), few.len() * (few.len() - 1) / 2, "{features:?}");
        let whole: HashSet<(u32, u32)> = (found.iter())
            .filter(|p| {
                let all = 0..few[p.left_row as usize].chars().count();
                p.left_span == all && p.right_span == all
            })
            .map(|p| (p.left_row, p.right_row))
            .collect();
        let equal: HashSet<(u32, u32)> = expected.iter().map(|&(a, b)| (a - 495, b - 495)).collect();
        assert_eq!(whole, equal, "{features:?}");
    }
}

/// What the range leaves of other documents never equals what stands for those of which it leaves
/// nothing.
#[test]
fn documents_of_frequent_words_only() {
    let mut texts = vec!["the of and".to_owned(); 30];
    texts.extend((0..70).map(|n| format!("the of and w{n}")));
    texts.extend((0..2).map(|_| "of the".to_owned()));
    let method =
        Imatch { spec: FeatureSpec { multiset: false, ..FeatureSpec::WORDS }, range: IdfRange::default() };
    let (found, _) = find(&method, Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
    assert_eq!(found.len(), 30 * 29 / 2 + 1);
}

/// A caller that wants one pair of each row of a side skips the row's other pairs: then equal rows
/// cost it as many pairs as there are rows, and each row that has a pair has one.
#[test]
fn one_pair_of_each_row() {
    let texts = ["red crane", "blue quay north", "alone here", "red crane left", "nowhere else"];
    let lefts = (0..300).map(|n| texts[n % 3]);
    let rights = (0..200).map(|n| texts[n * 3 % 5]);
    let all: Vec<&str> = lefts.chain(rights).collect();
    let sets = Sets::of_words(Measure::Jaccard, 0.6).unwrap();
    let executor = PlainThreads(2);
    let files = neardup_core::storage::files::MemoryFiles;
    let pairs = |by_right: bool, skip: bool| -> Vec<[u32; 2]> {
        let (mut corpus, mut quiet) = (Corpus::of_texts(&all).split(Some(300)), Quiet);
        let resources = Resources { files: &files, budget: 1 << 30, executor: &executor };
        let mut pairs = sets.pairs(&mut Reading::new(&mut corpus, &mut quiet, resources)).unwrap();
        if by_right {
            pairs = pairs.by_right();
        }
        let mut found = Vec::new();
        while let Some(pair) = pairs.next(&executor).unwrap() {
            found.push([pair.left, pair.right]);
            if skip {
                pairs.skip_row();
            }
        }
        found
    };
    let every: HashSet<[u32; 2]> = pairs(false, false).into_iter().collect();
    assert_eq!(every, pairs(true, false).into_iter().collect());
    assert!(every.len() > 10_000);
    for (side, by_right) in [(0, false), (1, true)] {
        let found = pairs(by_right, true);
        assert!(found.iter().all(|pair| every.contains(pair)));
        let rows = |pairs: &[[u32; 2]]| -> HashSet<u32> { pairs.iter().map(|pair| pair[side]).collect() };
        let all: Vec<[u32; 2]> = every.iter().copied().collect();
        assert_eq!(rows(&found), rows(&all));
        // Two records of the other side are near to some rows.
        assert!(found.len() <= 2 * rows(&all).len(), "{} pairs", found.len());
    }
}
