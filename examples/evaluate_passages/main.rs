//! How well planted passages are located, and how many documents have partial duplicates: the tables `passages` of
//! docs/evaluation.md, printed.
//!
//!     cargo run --release --no-default-features --example evaluate_passages -- FOLDER_OF_CORPORA
//!
//! The folder holds planted_en_a and planted_zh_a, news into which sentences of others were copied at known places, and
//! en_reuters_a, html_kafka_a, html_zh_a and zh_news_a.

mod characters;
#[path = "../../tests/common/corpora.rs"]
mod corpora;
mod score;
mod wrap;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use characters::{characters, solid};
use neardup::features::imatch::IdfRange;
use neardup::features::spotsigs::{Antecedents, SpotSpec};
use neardup::features::units::signatures::Features;
use neardup::files::NoFiles;
use neardup::methods::corpus::Corpus;
use neardup::methods::documents::Quiet;
use neardup::methods::passages::search;
use neardup::methods::reading::Reading;
use neardup::methods::spotsigs::SpotSigs;
use neardup::passages::{Parameters, Passage};
use neardup::resources::Resources;
use neardup::verify::measure::Measure;
use neardup::verify::predicate::Predicate;
use neardup::workers::PlainThreads;
use score::Score;
use wrap::wrap;

const WORKERS: PlainThreads = PlainThreads(4);
const RESOURCES: Resources<'static> = Resources { files: &NoFiles, budget: 1 << 30, workers: &WORKERS };

fn main() {
    let Some(data) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("evaluate_passages FOLDER_OF_CORPORA");
        std::process::exit(2);
    };
    let planted: Vec<Planted> =
        ["planted_en_a", "planted_zh_a"].iter().map(|name| Planted::read(&data, name)).collect();
    settings(&planted);
    widths(&data, &planted);
    signatures(&planted);
    lengths(&planted);
    edits(&planted);
    wrapping(&planted);
    beyond(&data);
}

/// All passages that a table of these texts has.
fn passages(texts: &[String], parameters: &Parameters) -> Vec<Passage> {
    let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
    let mut reading = Reading::new(&mut corpus, &mut quiet, RESOURCES);
    let mut search = search(parameters, &mut reading).expect("parameters");
    let mut all = Vec::new();
    while let Some(mut batch) = search.next_batch(&WORKERS).expect("memory") {
        all.append(&mut batch);
    }
    all
}

fn shingles(k: usize) -> Features {
    Features::Shingles(k)
}

fn imatch() -> Features {
    Features::Imatch(IdfRange::default())
}

fn spotsigs(antecedents: Antecedents) -> Features {
    Features::Spotsigs(SpotSpec { antecedents, ..SpotSpec::default() })
}

/// The signatures that are compared, by their names.
fn kinds_of_features() -> Vec<(&'static str, Features)> {
    vec![
        ("2-shingles", shingles(2)),
        ("3-shingles", shingles(3)),
        ("4-shingles", shingles(4)),
        ("I-Match [0.1, 1]", imatch()),
        ("I-Match [0.2, 1]", Features::Imatch(IdfRange::new(0.2, 1.0).expect("a range"))),
        ("SpotSigs, stop words", spotsigs(Antecedents::Common)),
        ("SpotSigs, 60 words", spotsigs(Antecedents::Counted(60))),
        ("SpotSigs, 10,000 words", spotsigs(Antecedents::Counted(10_000))),
    ]
}

/// The sentences of a long run: as many as a passage has by default.
const RUN: usize = 3;

/// News with planted passages. Characters are numbered without white space, which copies need not keep.
struct Planted {
    name: &'static str,
    texts: Vec<String>,
    /// The characters of both documents that were planted, by kind, host and donor.
    truth: BTreeMap<(String, u32, u32), [HashSet<usize>; 2]>,
    /// Of these, pairs whose sentences are not one run of at least [`RUN`] in both documents.
    short: HashSet<(u32, u32)>,
    /// The planted sentences.
    sentences: Vec<PlantedSentence>,
}

/// A sentence that was copied: its host and its donor, and its characters in both.
#[derive(Clone)]
struct PlantedSentence {
    rows: [u32; 2],
    spans: [Range<usize>; 2],
}

impl Planted {
    fn read(data: &Path, name: &'static str) -> Self {
        let folder = data.join(name);
        let (mut texts, mut rows) = (Vec::new(), BTreeMap::new());
        for document in corpora::documents(data, name) {
            rows.insert(corpora::id(&document), texts.len() as u32);
            texts.push(corpora::text(&document));
        }
        let places: Vec<Vec<usize>> = texts.iter().map(|text| solid(text)).collect();
        let mut truth: BTreeMap<_, [HashSet<usize>; 2]> = BTreeMap::new();
        let mut sentences: Vec<PlantedSentence> = Vec::new();
        for line in std::fs::read_to_string(folder.join("spans.tsv")).expect("spans").lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let (host, donor) = (rows[fields[0]], rows[fields[1]]);
            let at: Vec<usize> = fields[3..7].iter().map(|at| at.parse().expect("a number")).collect();
            let spans = [(host, &at[..2]), (donor, &at[2..])]
                .map(|(row, at)| characters(&places[row as usize], &(at[0]..at[1])));
            sentences.push(PlantedSentence { rows: [host, donor], spans });
            let of = truth.entry((fields[2].to_owned(), host, donor)).or_default();
            of[0].extend(characters(&places[host as usize], &(at[0]..at[1])));
            of[1].extend(characters(&places[donor as usize], &(at[2]..at[3])));
        }
        let follow = |pair: &[PlantedSentence]| {
            [0, 1].iter().all(|&side| pair[0].spans[side].end == pair[1].spans[side].start)
        };
        let is_short = |own: &&[PlantedSentence]| own.len() < RUN || !own.windows(2).all(follow);
        let of_pairs = sentences.chunk_by(|a, b| a.rows == b.rows);
        let short = of_pairs.filter(is_short).map(|own| own[0].rows.into()).collect();
        Self { name, texts, truth, short, sentences }
    }

    /// The same with hosts wrapped at so many columns; a line that is indented, or follows an empty one, begins
    /// a paragraph and goes on doing so.
    fn wrapped(&self, width: usize) -> Self {
        let hosts: HashSet<u32> = self.truth.keys().map(|&(_, host, _)| host).collect();
        let texts = self.texts.iter().zip(0..).map(|(text, row)| match hosts.contains(&row) {
            true => wrap(text, width),
            false => text.clone(),
        });
        Self {
            name: self.name,
            texts: texts.collect(),
            truth: self.truth.clone(),
            short: self.short.clone(),
            sentences: self.sentences.clone(),
        }
    }

    /// The same without pairs with a run of fewer than [`RUN`] sentences.
    fn of_runs(&self) -> Self {
        let truth = self.truth.iter().filter(|((_, host, donor), _)| !self.short.contains(&(*host, *donor)));
        Self {
            name: self.name,
            texts: self.texts.clone(),
            truth: truth.map(|(key, own)| (key.clone(), own.clone())).collect(),
            short: HashSet::new(),
            sentences: Vec::new(),
        }
    }

    fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = self.truth.keys().map(|(kind, ..)| kind.as_str()).collect();
        kinds.dedup();
        kinds
    }

    /// How well passages are located, of some kinds.
    fn judge(&self, found: &[Passage], kinds: &[&str]) -> Score {
        let places: Vec<Vec<usize>> = self.texts.iter().map(|text| solid(text)).collect();
        let mut of: BTreeMap<(u32, u32), [HashSet<usize>; 2]> = BTreeMap::new();
        for passage in found {
            let rows = [passage.left_row, passage.right_row];
            let spans = [&passage.left_span, &passage.right_span];
            let [left, right] = [0, 1].map(|side| characters(&places[rows[side] as usize], spans[side]));
            for (host, donor, a, b) in [(rows[0], rows[1], &left, &right), (rows[1], rows[0], &right, &left)]
            {
                let own = of.entry((host, donor)).or_default();
                own[0].extend(a.clone());
                own[1].extend(b.clone());
            }
        }
        let mut score = Score::default();
        let nothing = Default::default();
        for ((_, host, donor), truth) in self.truth.iter().filter(|(key, _)| kinds.contains(&key.0.as_str()))
        {
            let found = of.get(&(*host, *donor)).unwrap_or(&nothing);
            for side in [0, 1] {
                let both = truth[side].intersection(&found[side]).count();
                score += Score { both, found: found[side].len(), truth: truth[side].len() };
            }
        }
        score
    }

    /// The share of the planted sentences of which passages have at least half the characters in both documents.
    fn sentences_found(&self, found: &[Passage]) -> f64 {
        let places: Vec<Vec<usize>> = self.texts.iter().map(|text| solid(text)).collect();
        let mut of: BTreeMap<[u32; 2], Vec<[Range<usize>; 2]>> = BTreeMap::new();
        for passage in found {
            let rows = [passage.left_row, passage.right_row];
            let spans = [&passage.left_span, &passage.right_span];
            let [left, right] = [0, 1].map(|side| characters(&places[rows[side] as usize], spans[side]));
            of.entry(rows).or_default().push([left.clone(), right.clone()]);
            of.entry([rows[1], rows[0]]).or_default().push([right, left]);
        }
        let is_found = |PlantedSentence { rows, spans }: &&PlantedSentence| {
            let all: &[[Range<usize>; 2]] = of.get(rows).map_or(&[], Vec::as_slice);
            [0, 1].iter().all(|&side| {
                let inside = |at: &usize| all.iter().any(|passage| passage[side].contains(at));
                2 * spans[side].clone().filter(inside).count() >= spans[side].len()
            })
        };
        let count = self.sentences.iter().filter(is_found).count();
        count as f64 / self.sentences.len().max(1) as f64
    }

    /// The same of a search.
    fn score(&self, parameters: &Parameters, kinds: &[&str]) -> Score {
        self.judge(&passages(&self.texts, parameters), kinds)
    }
}

fn head(first: &str, planted: &[Planted], columns: &str) {
    let names =
        |planted: &Planted| columns.replace('_', if planted.name.contains("zh") { "zh" } else { "en" });
    let all: Vec<String> = planted.iter().map(names).collect();
    println!("| {first} | {} |", all.join(" | "));
    let cells = first.matches('|').count() + all.iter().map(|cells| cells.split('|').count()).sum::<usize>();
    println!("|---|{}", "---:|".repeat(cells));
}

const BOTH: &str = "_: precision | recall | F1 | extended: precision | recall | F1";

fn row(name: &str, planted: &[Planted], cells: impl Fn(&Planted) -> String) {
    let cells: Vec<String> = planted.iter().map(cells).collect();
    println!("| {name} | {} |", cells.join(" | "));
}

/// Whole sentences and extended.
fn both(planted: &Planted, parameters: &Parameters, kinds: &[&str]) -> String {
    let whole = planted.score(&Parameters { extend: None, ..parameters.clone() }, kinds);
    let extended = planted.score(&Parameters { extend: Some(Parameters::GAP), ..parameters.clone() }, kinds);
    format!("{} | {}", whole.cells(), extended.cells())
}

/// Copies that were not changed, in any order and place.
const UNCHANGED: [&str; 3] = ["verbatim", "reorder", "split"];

/// Which setting is for what.
fn settings(planted: &[Planted]) {
    println!("### Settings: passages of all kinds\n");
    let columns = format!(
        "_: precision | recall | F1 | sentences found | runs of {RUN} or more: precision | recall | F1"
    );
    head("setting", planted, &columns);
    for (name, features, threshold, min_sentences) in [
        ("the defaults: I-Match, 3 sentences", imatch(), 0.9, 3),
        ("I-Match, 1 sentence", imatch(), 0.9, 1),
        ("4-shingles at 0.9, 1 sentence", shingles(4), 0.9, 1),
        ("2-shingles at 0.5, 3 sentences", shingles(2), 0.5, 3),
        ("2-shingles at 0.5, 2 sentences", shingles(2), 0.5, 2),
        ("2-shingles at 0.5, 1 sentence", shingles(2), 0.5, 1),
    ] {
        let parameters = Parameters { features, threshold, min_sentences, ..Parameters::default() };
        row(name, planted, |planted| {
            let found = passages(&planted.texts, &parameters);
            let runs = planted.of_runs();
            let [all, of_runs] =
                [planted, &runs].map(|planted| planted.judge(&found, &planted.kinds()).cells());
            format!("{all} | {:.3} | {of_runs}", planted.sentences_found(&found))
        });
    }
    println!();
}

/// The least width of a passage: what it keeps of planted passages, and how many it leaves of the others.
fn widths(data: &Path, planted: &[Planted]) {
    println!("### The least width of a passage (2-shingles at 0.5, 1 sentence or more)\n");
    let corpora = ["zh_news_a", "html_zh_a", "en_reuters_a"];
    let texts = corpora.map(|name| corpora::texts(data, name));
    let titles: Vec<String> = corpora
        .iter()
        .zip(&texts)
        .map(|(name, texts)| format!("{name}, {} documents: passages", texts.len()))
        .collect();
    let first = format!("columns | {}", titles.join(" | "));
    head(&first, planted, "_: precision | recall | F1");
    for min_width in [0, 10, 16, 20, 24, 32, 40, 60] {
        let parameters = Parameters {
            features: shingles(2),
            threshold: 0.5,
            min_sentences: 1,
            min_width,
            ..Parameters::default()
        };
        let counts: Vec<String> =
            texts.iter().map(|texts| passages(texts, &parameters).len().to_string()).collect();
        row(&format!("{min_width} | {}", counts.join(" | ")), planted, |planted| {
            planted.score(&parameters, &planted.kinds()).cells()
        });
    }
    println!();
}

/// Zhang et al. (SIGIR 2010), table 2: signatures.
fn signatures(planted: &[Planted]) {
    for least in [3, 1] {
        println!("### Signatures: verbatim passages of {least} or more sentences\n");
        head("signatures", planted, BOTH);
        for (name, features) in kinds_of_features() {
            let parameters = Parameters { features, min_sentences: least, ..Parameters::default() };
            row(name, planted, |planted| both(planted, &parameters, &["verbatim"]));
        }
        println!();
    }
}

/// The least number of sentences.
fn lengths(planted: &[Planted]) {
    println!("### The least number of sentences (verbatim, reordered and split copies)\n");
    head("signatures, sentences", planted, BOTH);
    for (name, features) in [("4-shingles", shingles(4)), ("I-Match", imatch())] {
        for min_sentences in [1, 2, 3, 4] {
            let parameters =
                Parameters { features: features.clone(), min_sentences, ..Parameters::default() };
            row(&format!("{name}, {min_sentences}"), planted, |planted| {
                both(planted, &parameters, &UNCHANGED)
            });
        }
    }
    println!();
}

/// Changed copies, and the threshold of sentences.
fn edits(planted: &[Planted]) {
    for planted in planted {
        println!(
            "### What was done to the copies, and the threshold: {} (1 sentence or more)\n",
            planted.name
        );
        println!(
            "| signatures, threshold | kind | precision | recall | F1 | extended: precision | recall | F1 |"
        );
        println!("|---|---|---:|---:|---:|---:|---:|---:|");
        let spots = spotsigs(Antecedents::Common);
        for (name, features) in [
            ("2-shingles", shingles(2)),
            ("4-shingles", shingles(4)),
            ("I-Match", imatch()),
            ("SpotSigs", spots),
        ] {
            for threshold in [0.9, 0.5] {
                if name == "I-Match" && threshold == 0.5 {
                    // Equal or not.
                    continue;
                }
                let parameters = Parameters {
                    features: features.clone(),
                    threshold,
                    min_sentences: 1,
                    ..Parameters::default()
                };
                let whole = passages(&planted.texts, &Parameters { extend: None, ..parameters.clone() });
                let extended = passages(&planted.texts, &parameters);
                for kind in planted.kinds() {
                    let [whole, extended] =
                        [&whole, &extended].map(|found| planted.judge(found, &[kind]).cells());
                    println!("| {name}, {threshold} | {kind} | {whole} | {extended} |");
                }
            }
        }
        println!();
    }
}

/// Copies at another line width.
fn wrapping(planted: &[Planted]) {
    println!("### Copies wrapped at another width (verbatim, I-Match, 1 sentence or more)\n");
    head("columns", planted, BOTH);
    let parameters = Parameters { min_sentences: 1, ..Parameters::default() };
    row("as they were", planted, |planted| both(planted, &parameters, &["verbatim"]));
    for width in [40, 50, 76, 100] {
        row(&width.to_string(), planted, |planted| both(&planted.wrapped(width), &parameters, &["verbatim"]));
    }
    println!();
}

/// Documents of which some pair is found by SpotSigs.
fn found_by_spotsigs(texts: &[String], threshold: f64) -> HashSet<u32> {
    let predicate = Predicate::new(Measure::Jaccard, threshold).expect("a threshold");
    let method = SpotSigs { spec: SpotSpec::default(), predicate };
    let (pairs, _) = Corpus::of_texts(texts).pairs_with(&method, RESOURCES).expect("memory");
    pairs.into_iter().flat_map(|pair| [pair.left, pair.right]).collect()
}

/// Zhang et al. (SIGIR 2010), figure 10: documents found beyond SpotSigs.
fn beyond(data: &Path) {
    println!("### Documents with duplication, beyond SpotSigs of whole documents\n");
    println!(
        "| corpus | documents | SpotSigs 0.44 | SpotSigs 0.8 | passages by | of at least | documents | beyond 0.44 | beyond 0.8 | mean sentences |"
    );
    println!("|---|---:|---:|---:|---|---:|---:|---:|---:|---:|");
    for name in ["en_reuters_a", "html_kafka_a", "zh_news_a"] {
        let texts = corpora::texts(data, name);
        let by_spots = [0.44, 0.8].map(|threshold| found_by_spotsigs(&texts, threshold));
        for (of, features) in [("I-Match", imatch()), ("4-shingles", shingles(4))] {
            for min_sentences in [1, 3, 6] {
                let parameters =
                    Parameters { features: features.clone(), min_sentences, ..Parameters::default() };
                let all = passages(&texts, &parameters);
                let found: HashSet<u32> =
                    all.iter().flat_map(|passage| [passage.left_row, passage.right_row]).collect();
                let sentences: f64 = all.iter().map(|passage| f64::from(passage.sentences)).sum();
                let [loose, strict] = [0, 1].map(|n| found.difference(&by_spots[n]).count());
                println!(
                    "| {name} | {} | {} | {} | {of} | {min_sentences} | {} | {loose} | {strict} | {:.1} |",
                    texts.len(),
                    by_spots[0].len(),
                    by_spots[1].len(),
                    found.len(),
                    sentences / all.len() as f64
                );
            }
        }
    }
}
