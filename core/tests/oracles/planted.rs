//! The method `runs` on passages that are planted into other texts: each passage of at least
//! `min_run` tokens is found, and nothing else. The texts are made, like pages of a site; where
//! there are corpora with planted passages, these are searched, too.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use neardup_core::features::runs::places::token_places;
use neardup_core::features::runs::tokens::read_tokens;
use neardup_core::features::tokens::Scratch;
use neardup_core::parameters::RunShare;
use neardup_core::verify::shared_runs::{SharedRun, SharedRuns};
use neardup_core::{
    Corpus, Document, MemoryFiles, PlainThreads, Resources, Runs, Span, Stop, Tokenizer, words,
};

use crate::common::corpora;

/// The least length of a run.
const LEAST: usize = 12;
/// Any common run makes a pair.
const ANY: f64 = 1e-9;

fn method(max_documents: Option<u64>) -> Runs {
    let (min_run, of, tokenizer) = (LEAST, RunShare::Both, Tokenizer::Words);
    Runs { min_run, of, threshold: ANY, max_documents, tokenizer }
}

fn pairs(texts: &[String], max_documents: Option<u64>) -> BTreeSet<(u32, u32)> {
    let find = |threads, budget| {
        let resources = Resources { files: &MemoryFiles, budget, executor: &PlainThreads(threads) };
        let (pairs, _) = Corpus::of_texts(texts).pairs_with(&method(max_documents), resources).unwrap();
        pairs.iter().map(|pair| (pair.left.min(pair.right), pair.left.max(pair.right))).collect()
    };
    let found = find(1, 1 << 26);
    assert_eq!(found, find(3, 0), "other resources");
    found
}

/// The runs that two texts share.
fn shared(texts: [&str; 2]) -> Vec<SharedRun> {
    let [a, b] = texts.map(|text| {
        let mut tokens = Vec::new();
        let document = Document::from(text);
        read_tokens(&document, Tokenizer::Words, &mut Scratch::default(), &mut tokens, &Stop::default())
            .unwrap();
        tokens
    });
    let mut runs = SharedRuns::new([a, b], LEAST, &Stop::default()).unwrap();
    std::iter::from_fn(|| runs.next(&PlainThreads(1)).unwrap()).collect()
}

fn places(text: &str) -> Vec<Span> {
    let mut places = Vec::new();
    token_places(text, Tokenizer::Words, &Stop::default(), &mut places).unwrap();
    places
}

/// Numbers that look random (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % end as u64) as usize
    }
}

/// How a language writes tokens.
#[derive(Clone, Copy)]
enum Script {
    /// Words between spaces, the frequent ones far more often, and some punctuation.
    English,
    /// Characters without spaces; each of them is a token.
    Chinese,
}

impl Script {
    fn tokens(self, numbers: &mut Numbers, count: usize) -> Vec<String> {
        let mut token = || {
            let n = numbers.below(3000);
            match self {
                Self::English => format!("w{}", n * n / 3000),
                Self::Chinese => char::from_u32(0x4e00 + n as u32).unwrap().to_string(),
            }
        };
        (0..count).map(|_| token()).collect()
    }

    /// Writes tokens as a text: with other case and punctuation each time.
    fn write(self, numbers: &mut Numbers, tokens: &[String]) -> String {
        let mut text = String::new();
        for token in tokens {
            match (self, numbers.below(9)) {
                (Self::English, 0) => text += &format!("{}, ", token.to_uppercase()),
                (Self::English, 1) => text += &format!("{token}.\n"),
                (Self::English, _) => text += &format!("{token} "),
                (Self::Chinese, 0) => text += &format!("{token}，"),
                (Self::Chinese, _) => text += token,
            }
        }
        text
    }
}

/// Pages of a site: a menu, and a text of their own. Every other page has a passage of the page
/// before: at the beginning, at the very end, or in the middle, and of at least the least length or
/// shorter by a token.
struct Site {
    texts: Vec<String>,
    /// The pairs of pages with a passage that is long enough: its first tokens, and its length.
    planted: BTreeMap<(u32, u32), SharedRun>,
}

impl Site {
    fn new(script: Script, menu: usize) -> Self {
        const PAGES: usize = 120;
        let numbers = &mut Numbers(menu as u64);
        let menu = script.tokens(numbers, menu);
        let (mut texts, mut planted) = (Vec::new(), BTreeMap::new());
        let mut before: Vec<String> = Vec::new();
        for page in 0..PAGES {
            let count = 60 + numbers.below(200);
            let mut own = script.tokens(numbers, count);
            // What stands beside the menu is the page's own.
            own[0] = other(script, page);
            if page % 2 == 1 {
                let tokens = LEAST - 1 + [0, 0, 1, 30][numbers.below(4)];
                let left = 1 + numbers.below(before.len() - tokens);
                let right = [1, own.len(), 1 + numbers.below(own.len())][numbers.below(3)];
                let passage = before[left..left + tokens].to_vec();
                own.splice(right..right, passage);
                // The neighbours are others than those of the source.
                own[right - 1] = other(script, page);
                if let Some(after) = own.get_mut(right + tokens) {
                    *after = other(script, page);
                }
                if tokens >= LEAST {
                    let [left, right] = [left, right].map(|at| (menu.len() + at) as u32);
                    let run = SharedRun { left, right, tokens: tokens as u32 };
                    planted.insert((page as u32 - 1, page as u32), run);
                }
            }
            let mut all = menu.clone();
            all.extend(own.iter().cloned());
            texts.push(script.write(numbers, &all));
            before = own;
        }
        Self { texts, planted }
    }
}

/// A token that stands on one page only.
fn other(script: Script, page: usize) -> String {
    match script {
        Script::English => format!("x{page}"),
        Script::Chinese => char::from_u32(0x3400 + page as u32).unwrap().to_string(),
    }
}

#[test]
fn passages_planted_into_pages() {
    for script in [Script::English, Script::Chinese] {
        // The menu is too short to be a run.
        let site = Site::new(script, LEAST - 1);
        let expected: BTreeSet<(u32, u32)> = site.planted.keys().copied().collect();
        assert!(expected.len() > 20);
        assert_eq!(pairs(&site.texts, None), expected);
        for (&(a, b), run) in &site.planted {
            let found = shared([&site.texts[a as usize], &site.texts[b as usize]]);
            assert_eq!(found, [*run]);
        }
        // All pages have a menu that is a run; it does not count.
        let site = Site::new(script, 40);
        let planted: BTreeSet<(u32, u32)> = site.planted.keys().copied().collect();
        assert_eq!(pairs(&site.texts, Some(3)), planted);
        let all = site.texts.len() * (site.texts.len() - 1) / 2;
        assert_eq!((pairs(&site.texts, None).len(), pairs(&site.texts, Some(120)).len()), (all, all));
    }
}

/// Pairs of texts that have a window in common, by a dictionary of all windows.
fn by_definition(texts: &[String]) -> BTreeSet<(u32, u32)> {
    let tokens: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
    let mut texts_of: HashMap<&[String], Vec<u32>> = HashMap::new();
    for (n, tokens) in (0..).zip(&tokens) {
        let windows: HashSet<&[String]> = tokens.windows(LEAST).collect();
        windows.into_iter().for_each(|window| texts_of.entry(window).or_default().push(n));
    }
    let pair = |texts: &Vec<u32>| {
        let texts = texts.clone();
        let (firsts, others) = (texts.clone().into_iter().enumerate(), texts);
        firsts.flat_map(move |(n, a)| {
            others[n + 1..].iter().map(move |&b| (a.min(b), a.max(b))).collect::<Vec<_>>()
        })
    };
    texts_of.values().filter(|texts| texts.len() > 1).flat_map(pair).collect()
}

/// Each planted passage that is verbatim and long enough is in one of the runs of its two texts.
/// The pairs are those of a dictionary of all windows.
#[test]
fn passages_planted_into_corpora() {
    let Some(folder) = corpora::folder("planted passages") else { return };
    for name in ["planted_en_a", "planted_zh_a"] {
        let texts = corpora::texts(&folder, name);
        let ids: Vec<String> =
            corpora::documents(&folder, name).map(|document| corpora::id(&document)).collect();
        let number: HashMap<&str, u32> = ids.iter().map(String::as_str).zip(0..).collect();
        let found = pairs(&texts, None);
        assert_eq!(found, by_definition(&texts), "{name}");
        let spans = std::fs::read_to_string(folder.join(name).join("spans.tsv")).expect("spans");
        let (mut long, mut short) = (0, 0);
        for line in spans.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            if fields[2] != "verbatim" {
                continue;
            }
            let pair = [0, 1].map(|n| number[fields[n]]);
            let chars = |n: usize| fields[n].parse::<usize>().expect("a place");
            let within = |text: u32, from: usize, to: usize| {
                let places = places(&texts[text as usize]);
                let first = places.partition_point(|place| place.chars.start < from);
                (first as u32, places.partition_point(|place| place.chars.end <= to) as u32)
            };
            let (left, right) = (within(pair[0], chars(3), chars(4)), within(pair[1], chars(5), chars(6)));
            if (left.1.saturating_sub(left.0) as usize) < LEAST {
                short += 1;
                continue;
            }
            long += 1;
            let [a, b] = pair;
            assert!(found.contains(&(a.min(b), a.max(b))), "{line}");
            let runs = shared([&texts[a as usize], &texts[b as usize]]);
            let inside = |run: &SharedRun| {
                run.left <= left.0
                    && left.1 <= run.left + run.tokens
                    && run.right <= right.0
                    && right.1 <= run.right + run.tokens
            };
            assert!(runs.iter().any(inside), "{line}: {left:?} {right:?} {runs:?}");
        }
        corpora::say(&format!(
            "{name}: {} pairs, {long} passages of at least {LEAST} tokens found, {short} are shorter",
            found.len()
        ));
        assert!(long > 50);
    }
}
