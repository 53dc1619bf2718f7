//! Methods beside each other, each on all pairs, as table 1 of Huang et al. (CIKM 2008) has them;
//! at the published thresholds, and at those that find equally many.

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::files::MemoryFiles;
use neardup_core::joins::sets::Algorithm;
use neardup_core::joins::sketches::combination::TechniqueSpec;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus as Rows;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::sketches::Sketches;
use neardup_core::methods::tlcs::Tlcs;
use neardup_core::resources::Resources;
use neardup_core::sketches::sentence::Parameters as Signing;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use neardup_core::verify::tlcs::{Parameters, Thresholds};

use crate::candidates::{PUBLISHED, Pair, THRESHOLDS, found};
use crate::inputs::{Input, table_of};
use crate::measure::{all_with_all, number, share};
use crate::processor;
use crate::sites::SHARES;

/// Documents of a corpus with labels that are compared all with all, at most.
const MOST: usize = 500;
/// Shares of the labelled pairs that are to be found.
const RECALLS: [f64; 3] = [0.7, 0.8, 0.9];
/// No threshold below is tried.
const LEAST: f64 = 0.05;

/// Pairs with their similarity.
type Similar = Vec<(Pair, f64)>;

/// What a method finds.
struct Contender {
    name: &'static str,
    /// The published threshold, in words.
    at: &'static str,
    /// The pairs at that, and how long one thread took, where one did it.
    published: Vec<Pair>,
    seconds: Option<f64>,
    /// All pairs, from a low threshold on, the most similar ones first.
    all: Similar,
}

/// All tables: of labelled corpora and of pages of sites, of which pairs of one site and of two are
/// judged alone, too.
pub fn tables(inputs: &[Input], pages: &Input) {
    println!("### All pairs: at the published thresholds, and at equal recall (Table 1)\n");
    let of = |input: &Input| -> Vec<Vec<String>> {
        let contenders = contenders(input);
        contenders.iter().map(|contender| row(input, contender, &input.corpus.name, |_| true)).collect()
    };
    let labelled = inputs.iter().filter(|input| input.sites.is_none());
    let mut rows: Vec<Vec<String>> =
        labelled.flat_map(|input| of(input.at_most(MOST).as_ref().unwrap_or(input))).collect();
    let of_pages = contenders(pages);
    let name = format!("{} pages of sites", pages.corpus.texts.len());
    rows.extend(of_pages.iter().map(|contender| row(pages, contender, &name, |_| true)));
    let head = |first| {
        let mut head = vec![first, "method", "at", "pairs", "precision", "recall"];
        head.extend(["precision at recall 0.7", "0.8", "0.9", "s"]);
        head
    };
    table_of(&head("corpus"), &rows);
    let sites = pages.sites.as_ref().expect("pages of sites");
    let is_one = |(a, b): Pair| sites[a as usize].0 == sites[b as usize].0;
    let mut rows = Vec::new();
    for (kind, one) in [("one site", true), ("two sites", false)] {
        let row = |contender| row(pages, contender, kind, |pair| is_one(pair) == one);
        rows.extend(of_pages.iter().map(row));
    }
    println!("### The same of pages of sites: pairs of one site and of two\n");
    table_of(&head("pairs of"), &rows);
    println!(
        "### Pairs of one site by the share of its frame: precision / recall at the published threshold, precision at recall 0.8\n"
    );
    let shares: Vec<String> = SHARES.iter().map(|share| format!("{share} %")).collect();
    let head: Vec<&str> = std::iter::once("method").chain(shares.iter().map(String::as_str)).collect();
    let rows: Vec<Vec<String>> = of_pages
        .iter()
        .map(|contender| {
            let of_share = SHARES.iter().map(|&share| {
                let kind = |pair: Pair| is_one(pair) && sites[pair.0 as usize].1 == share;
                let cells = row(pages, contender, "", kind);
                format!("{} / {}, {}", cells[4], cells[5], cells[7])
            });
            std::iter::once(contender.name.to_owned()).chain(of_share).collect()
        })
        .collect();
    table_of(&head, &rows);
}

/// A row of the table of a contender; only pairs of some kind count.
fn row(input: &Input, contender: &Contender, name: &str, kind: impl Fn(Pair) -> bool) -> Vec<String> {
    let labelled = input.corpus.labelled.iter().filter(|&&pair| kind(pair)).count();
    let judged: Vec<bool> = contender
        .published
        .iter()
        .filter(|&&pair| kind(pair))
        .filter_map(|&pair| input.is_right(pair))
        .collect();
    let right = judged.iter().filter(|&&right| right).count();
    let mut cells = vec![name.to_owned(), contender.name.to_owned(), contender.at.to_owned()];
    cells.extend([
        judged.len().to_string(),
        number(share(right as f64, judged.len() as f64)),
        number(share(right as f64, labelled as f64)),
    ]);
    let of_kind: Vec<(Option<bool>, f64)> = contender
        .all
        .iter()
        .filter(|(pair, _)| kind(*pair))
        .map(|&(pair, similarity)| (input.is_right(pair), similarity))
        .collect();
    cells.extend(RECALLS.map(|recall| number(precision_at(recall * labelled as f64, &of_kind))));
    cells.push(contender.seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.1}")));
    cells
}

/// The precision at the greatest threshold that finds so many right pairs; the most similar pairs
/// come first.
fn precision_at(least: f64, pairs: &[(Option<bool>, f64)]) -> f64 {
    let (mut right, mut known) = (0.0, 0.0);
    for equal in pairs.chunk_by(|a, b| a.1 == b.1) {
        right += equal.iter().filter(|pair| pair.0 == Some(true)).count() as f64;
        known += equal.iter().filter(|pair| pair.0.is_some()).count() as f64;
        if right >= least {
            return share(right, known);
        }
    }
    f64::NAN
}

fn contenders(input: &Input) -> Vec<Contender> {
    let mut all = Vec::new();
    for (name, trustable) in [("TLCS of candidates", true), ("LCS of candidates", false)] {
        let parameters = Parameters { trustable, ..Parameters::default() };
        let method = |thresholds| Tlcs {
            signatures: Signing::default(),
            rules: PUBLISHED,
            parameters,
            thresholds,
            weight: None,
        };
        let texts = &input.corpus.texts;
        let began = processor::seconds();
        let published = found(texts, &method(THRESHOLDS), 1).0.into_iter().map(|(pair, _)| pair).collect();
        let seconds = Some(processor::seconds() - began);
        let any = Thresholds { resemblance: LEAST, containment: None };
        let all_pairs = found(texts, &method(any), 2).0;
        all.push(Contender { name, at: "0.28 or 0.7", published, seconds, all: all_pairs });
    }
    let of_all = all_with_all(&input.corpus, Parameters::default(), LEAST);
    let published =
        of_all.iter().filter(|pair| pair.1 >= THRESHOLDS.resemblance).map(|pair| pair.0).collect();
    // All with all are compared by all threads.
    all.push(Contender { name: "TLCS of all", at: "0.28", published, seconds: None, all: of_all });

    let shingles = FeatureSpec { shingle: 5, multiset: false, ..FeatureSpec::WORDS };
    let sets = |spec, measure, threshold| Sets {
        spec,
        predicate: Predicate::new(measure, threshold).expect("a threshold"),
        algorithm: Algorithm::Auto,
    };
    let simhash = |threshold| {
        Sketches::of(TechniqueSpec::Simhash {
            feature: FeatureSpec::WORDS,
            bits: 64,
            frequency: true,
            threshold,
        })
    };
    all.push(of(input, "simhash", "59 of 64", &simhash(59.0 / 64.0), &simhash(0.5)));
    for (name, at, spec, measure, threshold) in [
        ("cosine of words", "0.95", FeatureSpec::WORDS, Measure::Cosine, 0.95),
        ("5-shingles", "0.5", shingles, Measure::Jaccard, 0.5),
        ("containment of words", "0.7", FeatureSpec::WORDS, Measure::Overlap, 0.7),
        ("containment of 5-shingles", "0.7", shingles, Measure::Overlap, 0.7),
    ] {
        let (published, low) = (sets(spec, measure, threshold), sets(spec, measure, LEAST));
        all.push(of(input, name, at, &published, &low));
    }
    for contender in &mut all {
        contender.all.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    }
    all
}

/// A contender by a method at its published threshold, and at a low one.
fn of(
    input: &Input,
    name: &'static str,
    at: &'static str,
    published: &dyn Method,
    low: &dyn Method,
) -> Contender {
    let resources = Resources { files: &MemoryFiles, budget: 1 << 30, executor: &PlainThreads(1) };
    let pairs = |method| Rows::of_texts(&input.corpus.texts).pairs_with(method, resources).expect("memory").0;
    let began = processor::seconds();
    let published = pairs(published).into_iter().map(|pair| (pair.left, pair.right)).collect();
    let seconds = Some(processor::seconds() - began);
    let all = pairs(low).into_iter().map(|pair| ((pair.left, pair.right), pair.similarity)).collect();
    Contender { name, at, published, seconds, all }
}
