//! Corpora with labels, as the README of their folder, NEARDUP_DATA, describes them.
#![allow(dead_code, reason = "each test, benchmark or evaluation uses some of it")]

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;

/// The folder of the corpora, NEARDUP_DATA. None, and a line that says so, where there is no such
/// folder.
pub fn folder(who: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("NEARDUP_DATA").map(PathBuf::from).filter(|folder| folder.is_dir());
    if folder.is_none() {
        say(&format!("{who}: no corpora; NEARDUP_DATA names their folder"));
    }
    folder
}

/// A line to standard error, which the test harness does not keep to itself.
pub fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error");
}

/// The names of all corpora.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| folder.join(name).join("docs.jsonl.gz").exists());
    names.sort();
    names
}

/// The documents of a corpus as they stand.
pub fn documents(folder: &Path, name: &str) -> impl Iterator<Item = Value> {
    let file = File::open(folder.join(name).join("docs.jsonl.gz")).expect("a corpus");
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    lines.map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON"))
}

/// What a document calls itself.
pub fn id(document: &Value) -> String {
    document["id"].as_str().expect("an id").to_owned()
}

/// Its text.
pub fn text(document: &Value) -> String {
    document["text"].as_str().unwrap_or_default().to_owned()
}

/// The texts of a corpus.
pub fn texts(folder: &Path, name: &str) -> Vec<String> {
    documents(folder, name).map(|document| text(&document)).collect()
}

/// The pairs that a corpus labels as near duplicates, the lesser number first: clusters, pairs, or
/// planted passages. `numbers` has its documents by their ids.
pub fn labels(folder: &Path, name: &str, numbers: &HashMap<String, u32>) -> HashSet<(u32, u32)> {
    let table = |file: &str| std::fs::read_to_string(folder.join(name).join(file)).unwrap_or_default();
    let mut labelled = HashSet::new();
    let mut label = |a: u32, b: u32| {
        labelled.insert((a.min(b), a.max(b)));
    };
    for file in ["label_pairs.tsv", "spans.tsv"] {
        for line in table(file).lines().skip(1) {
            let pair: Vec<u32> = line.split('\t').take(2).filter_map(|id| numbers.get(id).copied()).collect();
            if let [a, b] = pair[..] {
                label(a, b);
            }
        }
    }
    let clusters = table("label_clusters.tsv");
    let mut members: HashMap<&str, Vec<u32>> = HashMap::new();
    for line in clusters.lines().skip(1) {
        if let Some((id, cluster)) = line.split_once('\t') {
            members.entry(cluster).or_default().push(numbers[id]);
        }
    }
    for members in members.values() {
        for (n, &a) in members.iter().enumerate() {
            members[n + 1..].iter().for_each(|&b| label(a, b));
        }
    }
    labelled.retain(|(a, b)| a != b);
    labelled
}

/// Documents, and which pairs of them are labelled as near duplicates.
pub struct Corpus {
    pub name: String,
    pub texts: Vec<String>,
    /// The lesser number first.
    pub labelled: HashSet<(u32, u32)>,
}

impl Corpus {
    /// A corpus with the labels that it has.
    pub fn read(folder: &Path, name: &str) -> Self {
        let (mut texts, mut numbers) = (Vec::new(), HashMap::new());
        for document in documents(folder, name) {
            numbers.insert(id(&document), texts.len() as u32);
            texts.push(text(&document));
        }
        Self { name: name.to_owned(), texts, labelled: labels(folder, name, &numbers) }
    }
}

/// What `work` makes of each item, in order, on all processors; each has a state of its own.
pub fn on_all<T: Sync, S, R: Send>(
    items: &[T],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    const CHUNK: usize = 64;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let run = || {
        let (mut state, mut done) = (state(), Vec::new());
        loop {
            let from = next.fetch_add(CHUNK, std::sync::atomic::Ordering::Relaxed);
            if from >= items.len() {
                return done;
            }
            let chunk = &items[from..items.len().min(from + CHUNK)];
            done.push((from, chunk.iter().map(|item| work(&mut state, item)).collect::<Vec<_>>()));
        }
    };
    let mut parts: Vec<(usize, Vec<R>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    parts.sort_unstable_by_key(|part| part.0);
    parts.into_iter().flat_map(|part| part.1).collect()
}
