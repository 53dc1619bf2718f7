//! Without labels: the F1 of what is suggested, beside the best of all methods and thresholds.

use std::collections::HashSet;

use neardup_core::joins::pairs::Pair;
use neardup_core::suggest::curve::PairCurve;
use neardup_core::suggest::profile::ComparedBy;
use neardup_core::suggest::shares::{Shares, WholesAndParts};
use neardup_core::verify::measure::Measure;

use crate::inputs::Input;
use crate::unlabelled;

/// The F1 of the pairs with a similarity of at least each multiple of 0.05 from 0.05 on.
fn f1(input: &Input, pairs: &[Pair], unknown: &HashSet<(u32, u32)>) -> Vec<(f64, f64)> {
    let thresholds = (1..=20).map(|n| f64::from(n) * 5.0 / 100.0);
    let of = |threshold: f64| {
        let is_known = |pair: &&Pair| {
            input.is_duplicate(pair)
                || !unknown.contains(&(pair.left.min(pair.right), pair.left.max(pair.right)))
        };
        let found = pairs.iter().filter(|pair| pair.similarity >= threshold - 1e-9).filter(is_known);
        let (mut all, mut right) = (0u64, 0u64);
        found.for_each(|pair| {
            all += 1;
            right += u64::from(input.is_duplicate(pair));
        });
        (threshold, 2.0 * right as f64 / (all + input.duplicates.len() as u64) as f64)
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

/// The table by corpus.
pub fn table(inputs: &[Input]) {
    println!("### Without labels\n");
    println!("| corpus | looked at | suggested | its F1 | best | its F1 | share of the best |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let (mut good, mut good_unseen, mut unseen) = (0, 0, 0);
    for input in inputs {
        let profile = input.profile();
        let unknown: HashSet<(u32, u32)> = unlabelled::alike(&input.texts).into_iter().collect();
        let mut best = (0.0, String::new());
        let mut own = (0.0, 0.0, String::new());
        let mut shares: Option<Shares> = None;
        for (name, parts, measure) in [
            ("words", ComparedBy::Words, Measure::Jaccard),
            ("3 characters", ComparedBy::Grams, Measure::Jaccard),
            ("3 words", ComparedBy::Runs, Measure::Jaccard),
            ("containment of words", ComparedBy::Words, Measure::Containment),
            ("containment of 3 words", ComparedBy::Runs, Measure::Containment),
        ] {
            let pairs = input.pairs(parts.spec(), measure);
            let curve = f1(input, &pairs, &unknown);
            let of_pairs = curve.iter().filter(|(threshold, _)| *threshold >= PairCurve::FLOOR);
            of_pairs.for_each(|&(threshold, f1)| better(&mut best, name, threshold, f1));
            if parts == profile.parts() && measure == Measure::Jaccard {
                let mut found = PairCurve::new(input.texts.len()).expect("memory");
                pairs.iter().for_each(|pair| found.add([pair.left, pair.right], pair.similarity, 1));
                let threshold = found.suggest().threshold;
                let at = curve.iter().find(|(at, _)| (at - threshold).abs() < 1e-9);
                own = (threshold, at.map_or(0.0, |(_, f1)| *f1), name.to_owned());
                shares = input.shares(&profile, &pairs, threshold);
            }
        }
        let most = WholesAndParts::max_documents(input.texts.len() as u64);
        for (name, max_documents) in [("common runs", None), ("common runs of few documents", Some(most))] {
            let pairs = input.runs(LEAST, max_documents);
            let curve = f1(input, &pairs, &unknown);
            curve.iter().for_each(|&(threshold, f1)| better(&mut best, name, threshold, f1));
            let fits = shares.is_some_and(|shares| shares.are_of_parts() || shares.are_of_templates());
            if fits && max_documents.is_some() {
                let at = curve.iter().find(|(at, _)| (at - WholesAndParts::SHARE).abs() < 1e-9);
                own = (WholesAndParts::SHARE, at.map_or(0.0, |(_, f1)| *f1), name.to_owned());
            }
        }
        if let Some(shares) = shares {
            eprintln!("{}: {shares:?}", input.name);
        }
        let share = own.1 / best.0;
        good += usize::from(share >= 0.9);
        unseen += usize::from(!input.looked_at);
        good_unseen += usize::from(share >= 0.9 && !input.looked_at);
        println!(
            "| {} | {} | {}, {} | {:.2} | {} | {:.2} | {share:.2} |",
            input.name,
            if input.looked_at { "yes" } else { "no" },
            own.2,
            own.0,
            own.1,
            best.1,
            best.0
        );
    }
    println!(
        "\nAt least 0.9 of the best: {good} of {}, of those not looked at {good_unseen} of {unseen}.\n",
        inputs.len()
    );
}
