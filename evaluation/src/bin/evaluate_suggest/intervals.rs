//! With labels: on how many repeats the true precision and recall at the proposed threshold lie
//! inside the intervals that the answers to 200 proposed pairs give.

use std::collections::HashMap;

use neardup_core::hash::mix;
use neardup_core::joins::pairs::Pair;
use neardup_core::suggest::answers::{Answers, Interval, ThresholdEstimate, best};
use neardup_core::suggest::curve::PairCurve;
use neardup_core::suggest::proposals::Proposals;
use neardup_core::verify::measure::Measure;

use crate::inputs::Input;
use crate::small;

/// The number of answers.
const ANSWERS: usize = 200;

/// The wanted precisions; none for the best F1.
const WANTED: [Option<f64>; 3] = [Some(0.8), Some(0.95), None];

/// What the repeats of a corpus add up to.
#[derive(Default)]
struct Sum {
    thresholds: Vec<f64>,
    inside: u32,
    recall_inside: u32,
    reached: u32,
    width: f64,
    precision: f64,
}

/// The pairs of a corpus that somebody judged, and what is true of them.
struct Population {
    pairs: Vec<Pair>,
    /// Whether each pair is a duplicate.
    answers: Vec<bool>,
    /// Pairs of the corpus that nobody judged, and that are not among these.
    unjudged: usize,
    curve: PairCurve,
    duplicates: f64,
    /// The precision and the recall of each threshold.
    truth: Vec<[f64; 2]>,
}

impl Population {
    fn new(input: &Input) -> Self {
        let all = input.pairs(input.profile().parts().spec(), Measure::Jaccard);
        let (pairs, answers): (Vec<Pair>, Vec<bool>) =
            all.iter().filter_map(|pair| Some((*pair, input.judge(pair)?))).unzip();
        let unjudged = all.len() - pairs.len();
        let mut curve = PairCurve::new(input.texts.len()).expect("memory");
        pairs.iter().for_each(|pair| curve.add([pair.left, pair.right], pair.similarity, 1));
        let duplicates = answers.iter().filter(|yes| **yes).count() as f64;
        let of = |n: i32| {
            let least = f64::from(n) * 0.05 - 1e-9;
            let above = pairs.iter().zip(&answers).filter(|(pair, _)| pair.similarity >= least);
            let (all, right) =
                above.fold((0.0, 0.0), |(all, right), (_, yes)| (all + 1.0, right + f64::from(*yes)));
            [right / all, right / duplicates]
        };
        let truth = (6..=20).map(of).collect();
        Self { pairs, answers, unjudged, curve, duplicates, truth }
    }

    /// What the answers to the pairs that are proposed with other hashes say of each threshold.
    /// `numbers` has the pairs by their rows.
    fn estimates(&self, seed: u64, numbers: &HashMap<(u32, u32), usize>) -> Vec<ThresholdEstimate> {
        let Self { pairs, answers, curve, .. } = self;
        let mut proposals = Proposals::new(ANSWERS);
        for pair in pairs {
            let hashes = [pair.left, pair.right].map(|row| mix(u64::from(row) ^ mix(seed)));
            proposals.offer(*pair, 1, hashes).expect("memory");
        }
        let mut given = Answers::default();
        for proposal in proposals.choose(curve.strata(), curve.suggest().threshold).expect("memory") {
            let yes = answers[numbers[&(proposal.of.left, proposal.of.right)]];
            given.add(Some(proposal.of.similarity), yes);
        }
        given.estimates(curve.strata(), PairCurve::FLOOR)
    }

    /// Adds the threshold that is proposed for a wanted precision.
    fn add(&self, sum: &mut Sum, estimates: &[ThresholdEstimate], wanted: Option<f64>) {
        let Some((found, fits)) = best(estimates, wanted) else { return };
        let [precision, recall] = self.truth[((found.threshold - PairCurve::FLOOR) * 20.0).round() as usize];
        let inside = |interval: Option<Interval>, value: f64| {
            interval.is_some_and(|of| of.low - 1e-12 <= value && value <= of.high + 1e-12)
        };
        sum.thresholds.push(found.threshold);
        sum.inside += u32::from(inside(found.precision, precision));
        sum.recall_inside += u32::from(inside(found.recall, recall));
        sum.reached += u32::from(fits);
        sum.width += found.precision.map_or(1.0, |of| of.high - of.low);
        sum.precision += precision;
    }
}

/// The table by corpus.
pub fn table(inputs: &[Input]) {
    let repeats: u64 = if small::small() { 60 } else { 500 };
    println!("### With {ANSWERS} labels\n");
    println!(
        "{repeats} repeats for each corpus. The columns of precision and recall say on what share of them the true value \
         at the proposed threshold is inside its interval.\n"
    );
    println!(
        "| corpus | judged pairs | duplicates | unjudged | wanted | thresholds | its true precision | precision inside | mean width | \
         recall inside | said to be reached |"
    );
    println!("|{}", " --- |".repeat(11));
    for input in inputs {
        let population = Population::new(input);
        if population.duplicates == 0.0 {
            continue;
        }
        let numbers =
            population.pairs.iter().enumerate().map(|(n, pair)| ((pair.left, pair.right), n)).collect();
        let mut sums: [Sum; 3] = Default::default();
        for seed in 0..repeats {
            let estimates = population.estimates(seed, &numbers);
            sums.iter_mut().zip(WANTED).for_each(|(sum, wanted)| population.add(sum, &estimates, wanted));
        }
        for (sum, wanted) in sums.iter_mut().zip(WANTED) {
            sum.thresholds.sort_unstable_by(f64::total_cmp);
            let share = |part: f64| part / repeats as f64;
            let (first, last) = (sum.thresholds.first(), sum.thresholds.last());
            println!(
                "| {} | {} | {} | {} | {} | {} to {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.2} |",
                input.name,
                population.pairs.len(),
                population.duplicates,
                population.unjudged,
                wanted.map_or("best F1".to_owned(), |wanted| wanted.to_string()),
                first.unwrap_or(&0.0),
                last.unwrap_or(&0.0),
                share(sum.precision),
                share(f64::from(sum.inside)),
                share(sum.width),
                share(f64::from(sum.recall_inside)),
                share(f64::from(sum.reached)),
            );
        }
    }
    println!();
}
