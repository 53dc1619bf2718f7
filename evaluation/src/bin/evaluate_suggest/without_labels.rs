//! Without labels: the F1 of what is suggested, beside the best of all methods and thresholds.

use std::collections::BTreeSet;

use neardup_core::joins::pairs::Pair;
use neardup_core::methods::runs::Runs;
use neardup_core::suggest::curve::PairCurve;
use neardup_core::suggest::profile::ComparedBy;
use neardup_core::suggest::shares::{Shares, WholesAndParts};
use neardup_core::verify::measure::Measure;

use crate::inputs::Input;

/// What the pairs from a threshold on are worth.
struct Point {
    threshold: f64,
    f1: f64,
    /// Pairs among them that nobody judged.
    unjudged: u64,
}

/// The F1 of the pairs with a similarity of at least each multiple of 0.05 from 0.05 on.
fn f1(input: &Input, pairs: &[Pair]) -> Vec<Point> {
    let thresholds = (1..=20).map(|n| f64::from(n) * 5.0 / 100.0);
    let of = |threshold: f64| {
        let (mut all, mut right, mut unjudged) = (0u64, 0u64, 0u64);
        for pair in pairs.iter().filter(|pair| pair.similarity >= threshold - 1e-9) {
            match input.judge(pair) {
                Some(is_right) => {
                    all += 1;
                    right += u64::from(is_right);
                }
                None => unjudged += 1,
            }
        }
        let f1 = 2.0 * right as f64 / (all + input.labels.right.len() as u64) as f64;
        Point { threshold, f1, unjudged }
    };
    thresholds.map(of).collect()
}

/// The least share of common runs.
const LEAST: f64 = 0.05;

/// Takes what is better than all before.
fn better(best: &mut (f64, String), name: &str, threshold: f64, f1: f64) {
    if f1 > best.0 {
        *best = (f1, format!("{name}, {threshold}"));
    }
}

/// What is suggested of a corpus, and the best of all that could be.
#[derive(Default)]
struct Row {
    suggested: (f64, String),
    unjudged: u64,
    best: (f64, String),
}

impl Row {
    fn suggest(&mut self, name: &str, threshold: f64, curve: &[Point]) {
        let at = curve.iter().find(|point| (point.threshold - threshold).abs() < 1e-9);
        self.suggested = (at.map_or(0.0, |at| at.f1), format!("{name}, {threshold}"));
        self.unjudged = at.map_or(0, |at| at.unjudged);
    }

    fn of(input: &Input) -> Self {
        let (profile, mut row) = (input.profile(), Self::default());
        let mut shares: Option<Shares> = None;
        for (name, parts, measure) in [
            ("words", ComparedBy::Words, Measure::Jaccard),
            ("3 characters", ComparedBy::Grams, Measure::Jaccard),
            ("3 words", ComparedBy::Runs, Measure::Jaccard),
            ("containment of words", ComparedBy::Words, Measure::Containment),
            ("containment of 3 words", ComparedBy::Runs, Measure::Containment),
        ] {
            let pairs = input.pairs(parts.spec(), measure);
            let curve = f1(input, &pairs);
            let of_pairs = curve.iter().filter(|point| point.threshold >= PairCurve::FLOOR);
            of_pairs.for_each(|point| better(&mut row.best, name, point.threshold, point.f1));
            if parts == profile.parts() && measure == Measure::Jaccard {
                let mut found = PairCurve::new(input.texts.len()).expect("memory");
                pairs.iter().for_each(|pair| found.add([pair.left, pair.right], pair.similarity, 1));
                let threshold = found.suggest().threshold;
                row.suggest(name, threshold, &curve);
                shares = input.shares(&profile, &pairs, threshold);
            }
        }
        let suggested = WholesAndParts::runs(&profile, input.texts.len() as u64);
        let fits = shares.is_some_and(|shares| shares.are_of_parts() || shares.are_of_templates());
        // Those of suggestions, and the default. Nearly all Chinese texts share runs of six.
        for min_run in BTreeSet::from([suggested.min_run, 12]) {
            for max_documents in [None, suggested.max_documents] {
                let runs = Runs { min_run, max_documents, threshold: LEAST, ..suggested };
                let curve = f1(input, &input.runs(runs));
                let few = if max_documents.is_some() { " of few documents" } else { "" };
                let name = format!("common runs of {min_run}{few}");
                curve.iter().for_each(|point| better(&mut row.best, &name, point.threshold, point.f1));
                if fits && min_run == suggested.min_run && max_documents.is_some() {
                    row.suggest(&name, WholesAndParts::SHARE, &curve);
                }
            }
        }
        if let Some(shares) = shares {
            eprintln!("{}: {shares:?}", input.name);
        }
        row
    }
}

/// The table by corpus.
pub fn table(inputs: &[Input]) {
    println!("### Without labels\n");
    println!("| corpus | looked at | F1 | suggested | unjudged | best F1 | best | share of the best |");
    println!("|{}", " --- |".repeat(8));
    // F1 of 0.9, and nine tenths of the best: of all, and of those that were not looked at.
    let (mut good, mut near_best) = ([0, 0], [0, 0]);
    let unseen = inputs.iter().filter(|input| !input.looked_at).count();
    for input in inputs {
        let Row { suggested, unjudged, best } = Row::of(input);
        let share = suggested.0 / best.0;
        for (count, is_so) in [(&mut good, suggested.0 >= 0.9), (&mut near_best, share >= 0.9)] {
            count[0] += usize::from(is_so);
            count[1] += usize::from(is_so && !input.looked_at);
        }
        println!(
            "| {} | {} | {:.2} | {} | {unjudged} | {:.2} | {} | {share:.2} |",
            input.name,
            if input.looked_at { "yes" } else { "no" },
            suggested.0,
            suggested.1,
            best.0,
            best.1
        );
    }
    println!(
        "\nF1 of at least 0.9: {} of {}, of those not looked at {} of {unseen}. At least 0.9 of the best: {}, and {}.\n",
        good[0],
        inputs.len(),
        good[1],
        near_best[0],
        near_best[1]
    );
}
