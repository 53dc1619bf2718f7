//! Corpora with labels, as the README of NEARDUP_DATA describes them.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

/// Documents, and which pairs of them are labelled as near duplicates.
pub struct Corpus {
    pub name: String,
    pub texts: Vec<String>,
    /// The lesser number first.
    pub labelled: HashSet<(u32, u32)>,
}

impl Corpus {
    /// A corpus with the labels that it has: clusters, pairs, or planted passages.
    pub fn read(folder: &Path, name: &str) -> Self {
        let folder = folder.join(name);
        let documents = File::open(folder.join("docs.jsonl.gz")).expect("a corpus");
        let (mut texts, mut numbers) = (Vec::new(), HashMap::new());
        for line in BufReader::new(GzDecoder::new(documents)).lines() {
            let document: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
            numbers.insert(document["id"].as_str().expect("an id").to_owned(), texts.len() as u32);
            texts.push(document["text"].as_str().expect("a text").to_owned());
        }
        let rows = |file: &str| -> Vec<Vec<u32>> {
            let table = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
            let ids = table.lines().skip(1).map(|line| line.split('\t').take(2));
            ids.map(|ids| ids.filter_map(|id| numbers.get(id).copied()).collect()).collect()
        };
        let mut labelled = HashSet::new();
        let mut label = |a: u32, b: u32| {
            labelled.insert((a.min(b), a.max(b)));
        };
        for pair in rows("label_pairs.tsv").into_iter().chain(rows("spans.tsv")) {
            if let [a, b] = pair[..] {
                label(a, b);
            }
        }
        let clusters = std::fs::read_to_string(folder.join("label_clusters.tsv")).unwrap_or_default();
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
        Self { name: name.to_owned(), texts, labelled }
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
