//! The trustable region: its slope, as in figure 8 of Huang et al. (CIKM 2008), where it may be,
//! its blocks, and iteration.

use std::collections::{BTreeMap, HashMap, HashSet};

use neardup_core::verify::tlcs::{Found, Parameters};

use crate::candidates::Pair;
use crate::chart::{self, Chart};
use crate::inputs::Input;
use crate::measure::{Curves, compare, head, mean, means, number, passes, passes_by_union, row, share};
use crate::of_sets::{pair, sets};
use crate::plot::table;

/// Documents whose sets are looked at, at most.
const DOCUMENTS: usize = 150;
/// Candidates that are compared of each kind, at most.
const SAMPLE: usize = 1000;
/// The slope at which the paper has the best precision, and that.
const PEAK: [f64; 2] = [0.1, 0.948];
const ANYWHERE: [f64; 2] = [0.0, 1.0];

/// The sets of some documents: what is right in each, with its similarity.
type Judged = Vec<Vec<(bool, f64)>>;

fn judged(input: &Input, sets: &BTreeMap<u32, Vec<u32>>, parameters: Parameters) -> Judged {
    let mut pairs: Vec<Pair> = sets
        .iter()
        .flat_map(|(&document, set)| set.iter().map(move |&other| pair(document, other)))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let found = compare(&input.corpus, &pairs, parameters);
    let similar: HashMap<Pair, f64> = pairs.into_iter().zip(found.iter().map(Found::resemblance)).collect();
    let of = |(&document, set): (&u32, &Vec<u32>)| {
        let judge = |&other: &u32| {
            let pair = pair(document, other);
            Some((input.is_right(pair)?, similar[&pair]))
        };
        set.iter().filter_map(judge).collect()
    };
    sets.iter().map(of).collect()
}

/// For each document the share of the right ones that reach a threshold, and of what reaches it
/// that is right.
fn rates(sets: &Judged, threshold: f64) -> Vec<[f64; 2]> {
    let rates = |set: &Vec<(bool, f64)>| {
        let reach =
            |right: bool| set.iter().filter(|one| one.1 >= threshold && one.0 == right).count() as f64;
        let all = set.iter().filter(|one| one.0).count() as f64;
        [share(reach(true), all), share(reach(true), reach(true) + reach(false))]
    };
    sets.iter().map(rates).collect()
}

fn recall_of(rates: &[[f64; 2]]) -> f64 {
    mean(rates.iter().map(|rates| rates[0]))
}

/// The precision of each document at the greatest threshold, in thousandths, that reaches a recall.
fn precision_at(sets: &Judged, recall: f64) -> Vec<f64> {
    let mut thresholds = (1..=1000).rev().map(|n| rates(sets, f64::from(n) / 1000.0));
    let reached = thresholds.find(|rates| recall_of(rates) >= recall);
    reached.map_or(Vec::new(), |rates| rates.iter().map(|rates| rates[1]).collect())
}

/// Precision against the slope at a fixed recall of the sets; its plot.
pub fn precision(inputs: &[Input]) -> String {
    const SLOPES: [f64; 10] = [0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2];
    const SHARE: f64 = 0.9;
    let (mut rows, mut curves) = (Vec::new(), Curves::default());
    for input in inputs {
        let sets = sets(&input.some_with_labels(DOCUMENTS), input.candidates.iter().copied());
        let of_sets =
            sets.iter().flat_map(|(&document, set)| set.iter().map(move |&other| pair(document, other)));
        let unjudged: HashSet<Pair> = of_sets.filter(|&pair| input.is_right(pair).is_none()).collect();
        for (of, centre) in [("", Parameters::default().centre), (", anywhere", ANYWHERE)] {
            let judged = SLOPES
                .map(|slope| judged(input, &sets, Parameters { slope, centre, ..Parameters::default() }));
            // Of what all slopes find at all: the region may keep nothing of a pair.
            let most = judged.iter().map(|judged| recall_of(&rates(judged, 0.001)));
            let recall = SHARE * most.fold(f64::INFINITY, f64::min);
            let of_documents = judged
                .each_ref()
                .map(|judged| sets.keys().copied().zip(precision_at(judged, recall)).collect::<Vec<_>>());
            if of.is_empty() {
                curves.add(input, &SLOPES, &of_documents);
            }
            let mut cells = row(&format!("{}{of}", input.corpus.name), &means(&of_documents));
            cells.splice(1..1, [unjudged.len().to_string(), number(recall)]);
            rows.push(cells);
        }
    }
    let [at, peak] = PEAK;
    let mut paper = row("the paper", &SLOPES.map(|slope| if slope == at { peak } else { f64::NAN }));
    paper.splice(1..1, ["-".to_owned(), number(0.9)]);
    rows.push(paper);
    println!("### Precision of sets at a fixed recall against the slope (Figure 8)\n");
    let columns: Vec<String> = ["unjudged", "recall"]
        .map(str::to_owned)
        .into_iter()
        .chain(SLOPES.iter().map(f64::to_string))
        .collect();
    table(&head("corpus", &columns), &rows);
    println!("![Precision against slope](tlcs_slope.svg)\n");
    chart::svg(&Chart {
        title: "Precision of sets at a fixed recall",
        x_title: "slope",
        factors: false,
        x_ticks: &SLOPES,
        curves: &curves.0,
        paper: &[(at, peak)],
        paper_name: "the paper",
    })
}

/// The precision at the greatest resemblance that still finds so many of the labelled pairs, the
/// others being weighed.
fn at_recall(least: usize, labelled: &[Found], others: &[Found], weight: f64) -> f64 {
    let mut of_labelled: Vec<f64> = labelled.iter().map(Found::resemblance).collect();
    of_labelled.sort_unstable_by(|a, b| b.total_cmp(a));
    let Some(&threshold) = of_labelled.get(least.saturating_sub(1)).filter(|&&least| least > 0.0) else {
        return f64::NAN;
    };
    let passing =
        |found: &[Found]| found.iter().filter(|found| found.resemblance() >= threshold).count() as f64;
    share(passing(labelled), passing(labelled) + weight * passing(others))
}

/// The region's other parameters: precision and recall of the candidates at the default thresholds,
/// and precision at equal recall.
pub fn regions<'a>(inputs: impl Iterator<Item = &'a Input>) {
    let default = Parameters::default();
    let variants = [
        ("default", default),
        ("k = 8", Parameters { blocks: 8, ..default }),
        ("k = 64", Parameters { blocks: 64, ..default }),
        ("anywhere", Parameters { centre: ANYWHERE, ..default }),
        ("0.25 to 0.75", Parameters { centre: [0.25, 0.75], ..default }),
        ("0.5", Parameters { centre: [0.5, 0.5], ..default }),
        ("all text", Parameters { first: 0, ..default }),
        ("min_part 50", Parameters { least_part: 50, ..default }),
        ("min_part 200", Parameters { least_part: 200, ..default }),
        ("50, anywhere", Parameters { least_part: 50, centre: ANYWHERE, ..default }),
        ("LCS", Parameters { trustable: false, ..default }),
    ];
    let (mut rows, mut equal) = (Vec::new(), Vec::new());
    for input in inputs {
        let name = &input.corpus.name;
        let (labelled, others) = input.split(SAMPLE);
        let count = |right: Option<bool>| {
            input.candidates.iter().filter(|&&pair| input.is_right(pair) == right).count()
        };
        let unjudged = count(None).to_string();
        let weights = [(true, labelled.len()), (false, others.len())]
            .map(|(right, sampled)| count(Some(right)) as f64 / sampled.max(1) as f64);
        let found: Vec<[Vec<Found>; 2]> = variants
            .iter()
            .map(|&(_, parameters)| {
                [&labelled, &others].map(|pairs| compare(&input.corpus, pairs, parameters))
            })
            .collect();
        let rates = |[labelled, others]: &[Vec<Found>; 2], passes: fn(&Found) -> bool| {
            let passing = |found: &[Found]| found.iter().filter(|found| passes(found)).count() as f64;
            let recall = share(passing(labelled), labelled.len() as f64);
            let (right, wrong) = (weights[0] * passing(labelled), weights[1] * passing(others));
            format!("{} / {}", number(share(right, right + wrong)), number(recall))
        };
        let mut cells = vec![name.clone(), unjudged.clone()];
        cells.extend(found.iter().map(|found| rates(found, passes)));
        cells.push(rates(&found[0], passes_by_union));
        rows.push(cells);
        for recall in [0.7, 0.9] {
            let least = (recall * labelled.len() as f64).ceil() as usize;
            let of = |[labelled, others]: &[Vec<Found>; 2]| {
                at_recall(least, labelled, others, weights[1] / weights[0])
            };
            let values: Vec<f64> = found.iter().map(of).collect();
            let mut cells = row(name, &values);
            cells.splice(1..1, [unjudged.clone(), recall.to_string()]);
            equal.push(cells);
        }
    }
    let names = variants.map(|(name, _)| name);
    println!("### Blocks, centre, length and iteration: precision / recall of candidates at 0.28 or 0.7\n");
    let columns: Vec<&str> = ["unjudged"].into_iter().chain(names).chain(["of the union"]).collect();
    table(&head("corpus", &columns), &rows);
    println!("### The same at equal recall of candidates: precision\n");
    let columns: Vec<&str> = ["unjudged", "recall"].into_iter().chain(names).collect();
    table(&head("corpus", &columns), &equal);
}
