//! Each step of the method by itself, as in section 4.2 of Huang et al. (CIKM 2008).

use neardup::hash::mix;
use neardup::sketches::sentence::Parameters as Signing;
use neardup::verify::tlcs::{Comparer, Found, Parameters};
use neardup::workers::Stop;

use crate::corpus::{Corpus, on_all};
use crate::pages;
use crate::pairs::{Candidates, Pair, compare, passes, sample};
use crate::plot::{Line, svg, table};

type Corpora = [(Corpus, Candidates)];

/// Pairs compared of a corpus in each of the tables, at most, of those with a label and of the others.
const SAMPLE: usize = 4000;

fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { f64::NAN } else { part / whole }
}

fn number(value: f64) -> String {
    if value.is_nan() { "-".to_owned() } else { format!("{value:.3}") }
}

fn head<T: ToString>(first: &str, columns: &[T]) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(columns.iter().map(T::to_string)).collect()
}

fn row(name: &str, values: &[f64]) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(values.iter().map(|&value| number(value))).collect()
}

fn line<X: Copy + Into<f64>>(name: &str, dashed: bool, xs: &[X], values: &[f64]) -> Line {
    let points = xs.iter().map(|&x| x.into()).zip(values.iter().copied());
    Line { name: name.to_owned(), dashed, points: points.filter(|point| !point.1.is_nan()).collect() }
}

/// What there is.
pub fn corpora(corpora: &Corpora) {
    println!("### Corpora\n");
    let rows: Vec<Vec<String>> = corpora
        .iter()
        .map(|(corpus, candidates)| {
            let found = corpus.labelled.iter().filter(|pair| candidates.kinds.contains_key(pair)).count();
            let unknown = candidates.unknown.len();
            let numbers = [corpus.texts.len(), corpus.labelled.len(), candidates.kinds.len(), found, unknown];
            std::iter::once(corpus.name.clone()).chain(numbers.iter().map(usize::to_string)).collect()
        })
        .collect();
    table(&head("corpus", &["documents", "labelled pairs", "candidates", "labelled", "unknown"]), &rows);
}

/// Coverage and trustable rate against the number of signatures.
pub fn signatures(corpora: &Corpora) -> String {
    const KINDS: [u32; 9] = [1, 2, 3, 4, 6, 8, 10, 13, 16];
    let numbers: Vec<u32> = KINDS.iter().map(|kinds| 7 * kinds).collect();
    let (mut covered, mut trusted, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for (corpus, candidates) in corpora {
        let labelled: Vec<Pair> = sample(corpus.labelled.iter().copied().collect(), SAMPLE);
        let near: Vec<Pair> = labelled
            .iter()
            .zip(compare(corpus, &labelled, Parameters::default()))
            .filter_map(|(&pair, found)| passes(&found).then_some(pair))
            .collect();
        let some = sample(candidates.pairs(), 4 * SAMPLE);
        let accepted: Vec<bool> = compare(corpus, &some, Parameters::default()).iter().map(passes).collect();
        let within =
            |pair: &Pair, kinds: u32| candidates.kinds.get(pair).is_some_and(|&least| least <= kinds);
        let coverage: Vec<f64> = KINDS
            .iter()
            .map(|&kinds| {
                share(near.iter().filter(|pair| within(pair, kinds)).count() as f64, near.len() as f64)
            })
            .collect();
        let trustable: Vec<f64> = KINDS
            .iter()
            .map(|&kinds| {
                let here = || some.iter().zip(&accepted).filter(|(pair, _)| within(pair, kinds));
                share(here().filter(|(_, accepted)| **accepted).count() as f64, here().count() as f64)
            })
            .collect();
        lines.push(line(&corpus.name, false, &numbers, &coverage));
        lines.push(line(&corpus.name, true, &numbers, &trustable));
        covered.push(row(&corpus.name, &coverage));
        trusted.push(row(&corpus.name, &trustable));
    }
    println!("### Coverage against the number of signatures\n");
    table(&head("corpus", &numbers), &covered);
    println!("### Trustable rate against the number of signatures\n");
    table(&head("corpus", &numbers), &trusted);
    println!("![Coverage and trustable rate](tlcs_signatures.svg)\n");
    svg("Coverage (solid) and trustable rate (dashed)", "signatures of a document", &lines)
}

/// The number of fingerprints that vote on a signature.
pub fn fingerprints(corpora: &Corpora) {
    const SMALLEST: [u32; 5] = [1, 3, 4, 5, 8];
    println!(
        "### Fingerprints to a signature: coverage with 14 and 112 signatures, and candidates with 112\n"
    );
    let mut rows = Vec::new();
    for (corpus, _) in corpora {
        let near = near(corpus);
        let mut cells = vec![corpus.name.clone()];
        for smallest in SMALLEST {
            let kinds = Candidates::of(corpus, Signing { smallest, ..Signing::default() }).kinds;
            let coverage = |most: u32| {
                let covered = near.iter().filter(|pair| kinds.get(pair).is_some_and(|&least| least <= most));
                share(covered.count() as f64, near.len() as f64)
            };
            cells.push(format!("{} / {} / {}", number(coverage(2)), number(coverage(16)), kinds.len()));
        }
        rows.push(cells);
    }
    table(&head("corpus", &SMALLEST.map(|s| format!("s = {s}"))), &rows);
}

/// Some of the labelled pairs that are near duplicates.
fn near(corpus: &Corpus) -> Vec<Pair> {
    let labelled: Vec<Pair> = sample(corpus.labelled.iter().copied().collect(), SAMPLE);
    let found = compare(corpus, &labelled, Parameters::default());
    labelled.into_iter().zip(&found).filter(|(_, found)| passes(found)).map(|(pair, _)| pair).collect()
}

/// Sentences dispersed over the document, also on made pages of a site of which every fifth is nearly the one before.
pub fn dispersed(corpora: &Corpora) {
    const SHARES: [u32; 4] = [0, 100, 200, 300];
    println!("### Sentences dispersed over the document: coverage and candidates, by the least distance\n");
    let made = [(400, 30), (400, 60), (1000, 30)].map(|(words, frame)| Corpus {
        name: format!("300 pages of {words} words, frame {frame} %"),
        texts: pages::pages(300, words, frame),
        labelled: (1..=60).map(|n| (5 * n - 2, 5 * n - 1)).collect(),
    });
    let mut rows = Vec::new();
    for corpus in corpora.iter().map(|(corpus, _)| corpus).chain(&made) {
        let near = near(corpus);
        let mut cells = vec![corpus.name.clone()];
        for dispersed in SHARES {
            let kinds = Candidates::of(corpus, Signing { dispersed, ..Signing::default() }).kinds;
            let covered = near.iter().filter(|pair| kinds.contains_key(pair)).count();
            cells.push(format!("{} / {}", number(share(covered as f64, near.len() as f64)), kinds.len()));
        }
        rows.push(cells);
    }
    let distances = SHARES.map(|share| format!("{}", f64::from(share) / 1000.0));
    table(&head("corpus", &distances), &rows);
}

/// Labelled candidates and others, at most so many of each; unknown ones are in neither.
fn split(corpus: &Corpus, candidates: &Candidates, most: usize) -> (Vec<Pair>, Vec<Pair>) {
    let (labelled, others): (Vec<Pair>, Vec<Pair>) =
        candidates.pairs().into_iter().partition(|pair| corpus.labelled.contains(pair));
    let others = others.into_iter().filter(|pair| !candidates.unknown.contains(pair)).collect();
    (sample(labelled, most), sample(others, most))
}

/// Pairs of documents that have nothing to do with each other, as far as labels say.
fn unrelated(corpus: &Corpus, many: u64) -> Vec<Pair> {
    let documents = corpus.texts.len() as u64;
    let any = |n: u64| (mix(2 * n) % documents, mix(2 * n + 1) % documents);
    let pairs = (0..many).map(any).map(|(a, b)| (a.min(b) as u32, a.max(b) as u32));
    pairs.filter(|pair| pair.0 != pair.1 && !corpus.labelled.contains(pair)).collect()
}

/// How much of the pairs' texts is not in their sketches.
fn strained(corpus: &Corpus, pairs: &[Pair], window: u32) -> f64 {
    let parameters = Parameters { window, trustable: false, ..Parameters::default() };
    let steps = on_all(
        pairs,
        || Comparer::new(parameters).expect("good parameters"),
        |comparer, &(a, b)| {
            let before = comparer.steps();
            let (a, b) = (&corpus.texts[a as usize], &corpus.texts[b as usize]);
            comparer.compare(a, b, None, &Stop::default()).expect("memory");
            let after = comparer.steps();
            (after.characters - before.characters, after.kept - before.kept)
        },
    );
    let (all, kept) = steps.iter().fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
    1.0 - share(kept as f64, all as f64)
}

/// Strain-away and reserve rate against the width of the window.
pub fn windows(corpora: &Corpora) -> String {
    const WIDTHS: [u32; 12] = [2, 4, 6, 8, 10, 12, 16, 20, 30, 50, 70, 100];
    const PAIRS: usize = 300;
    let (mut away, mut random, mut kept, mut lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (corpus, candidates) in corpora {
        let (labelled, others) = split(corpus, candidates, PAIRS);
        let unrelated = unrelated(corpus, PAIRS as u64);
        let shared = |window: u32| -> usize {
            let found = compare(corpus, &labelled, Parameters { window, ..Parameters::default() });
            found.iter().map(|found| found.shared).sum()
        };
        let whole = shared(0);
        let per_width = |measure: &dyn Fn(u32) -> f64| WIDTHS.map(measure);
        let candidates = per_width(&|window| strained(corpus, &others, window));
        let any = per_width(&|window| strained(corpus, &unrelated, window));
        let reserved = per_width(&|window| share(shared(window) as f64, whole as f64));
        lines.push(line(&corpus.name, false, &WIDTHS, &candidates));
        lines.push(line(&corpus.name, true, &WIDTHS, &reserved));
        away.push(row(&corpus.name, &candidates));
        random.push(row(&corpus.name, &any));
        kept.push(row(&corpus.name, &reserved));
    }
    println!("### Strain-away rate against the width of the window: candidates without a label\n");
    table(&head("corpus", &WIDTHS), &away);
    println!("### Strain-away rate: pairs at random\n");
    table(&head("corpus", &WIDTHS), &random);
    println!("### Reserve rate: TLCS with the filter / TLCS without it, labelled candidates\n");
    table(&head("corpus", &WIDTHS), &kept);
    println!("![Strain-away and reserve rate](tlcs_window.svg)\n");
    svg("Strain-away rate (solid) and reserve rate (dashed)", "width of the window", &lines)
}

/// How many candidates are neither labelled nor unknown.
fn count_others(corpus: &Corpus, candidates: &Candidates) -> f64 {
    let is_other = |pair: &&Pair| !corpus.labelled.contains(pair) && !candidates.unknown.contains(pair);
    candidates.kinds.keys().filter(is_other).count() as f64
}

/// The precision at the greatest resemblance that still finds so many of the labelled pairs.
fn precision_at(least: usize, labelled: &[Found], others: &[Found], weight: f64) -> f64 {
    let mut of_labelled: Vec<f64> = labelled.iter().map(Found::resemblance).collect();
    of_labelled.sort_unstable_by(|a, b| b.total_cmp(a));
    let Some(&threshold) = of_labelled.get(least.saturating_sub(1)) else { return f64::NAN };
    let passing =
        |found: &[Found]| found.iter().filter(|found| found.resemblance() >= threshold).count() as f64;
    share(passing(labelled), passing(labelled) + weight * passing(others))
}

/// Precision against the slope at a fixed recall.
pub fn slopes(corpora: &Corpora) -> String {
    const SLOPES: [f64; 10] = [0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2];
    const SHARE: f64 = 0.9;
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for (corpus, candidates) in corpora {
        let (labelled, unlabelled) = split(corpus, candidates, SAMPLE);
        let weight = count_others(corpus, candidates) / unlabelled.len().max(1) as f64;
        for (centre, name) in [([0.4, 0.6], ""), ([0.0, 1.0], ", anywhere")] {
            let found = SLOPES.map(|slope| {
                let parameters = Parameters { slope, centre, ..Parameters::default() };
                [&labelled, &unlabelled].map(|pairs| compare(corpus, pairs, parameters))
            });
            // So many that every slope finds them.
            let any = |found: &[Vec<Found>; 2]| found[0].iter().filter(|found| found.shared > 0).count();
            let least = (SHARE * found.iter().map(any).min().unwrap_or(0) as f64).floor() as usize;
            let precision = found.map(|[labelled, others]| precision_at(least, &labelled, &others, weight));
            lines.push(line(&corpus.name, !name.is_empty(), &SLOPES, &precision));
            let mut cells = row(&format!("{}{name}", corpus.name), &precision);
            cells.insert(1, number(share(least as f64, labelled.len() as f64)));
            rows.push(cells);
        }
    }
    println!("### Precision at a fixed recall against the slope\n");
    let columns: Vec<String> =
        std::iter::once("recall".to_owned()).chain(SLOPES.iter().map(f64::to_string)).collect();
    table(&head("corpus", &columns), &rows);
    println!("![Precision against slope](tlcs_slope.svg)\n");
    svg("Precision at a fixed recall (dashed: region anywhere)", "slope", &lines)
}

/// The region's other parameters: precision and recall of the candidates at the default thresholds.
pub fn regions(corpora: &Corpora) {
    let default = Parameters::default();
    let variants = [
        ("default".to_owned(), default),
        ("k = 8".to_owned(), Parameters { blocks: 8, ..default }),
        ("k = 32".to_owned(), Parameters { blocks: 32, ..default }),
        ("k = 64".to_owned(), Parameters { blocks: 64, ..default }),
        ("anywhere".to_owned(), Parameters { centre: [0.0, 1.0], ..default }),
        ("0.25 to 0.75".to_owned(), Parameters { centre: [0.25, 0.75], ..default }),
        ("0.5".to_owned(), Parameters { centre: [0.5, 0.5], ..default }),
        ("all text".to_owned(), Parameters { first: 0, ..default }),
        ("iterated, 50".to_owned(), Parameters { least_part: 50, ..default }),
        ("LCS".to_owned(), Parameters { trustable: false, ..default }),
    ];
    println!("### Blocks, centre, length and iteration: precision / recall of candidates at 0.28 or 0.7\n");
    let mut rows = Vec::new();
    for (corpus, candidates) in corpora {
        let (labelled, unlabelled) = split(corpus, candidates, SAMPLE / 4);
        let all = candidates.kinds.keys().filter(|pair| corpus.labelled.contains(pair)).count() as f64;
        let mut cells = vec![corpus.name.clone()];
        for (_, parameters) in &variants {
            let passing = |pairs: &[Pair]| {
                let found = compare(corpus, pairs, *parameters);
                share(found.iter().filter(|found| passes(found)).count() as f64, found.len() as f64)
            };
            let recall = passing(&labelled);
            let wrong = passing(&unlabelled) * count_others(corpus, candidates);
            let (right, wrong) = (recall * all, if wrong.is_nan() { 0.0 } else { wrong });
            cells.push(format!("{} / {}", number(share(right, right + wrong)), number(recall)));
        }
        rows.push(cells);
    }
    table(&head("corpus", &variants.map(|(name, _)| name)), &rows);
}
