//! Sentence signatures that many documents share: frames of sites are dropped, near duplicates stay.

use std::collections::BTreeSet;

use neardup_core::executor::{Executor, PlainThreads};
use neardup_core::joins::sentences::lister::StopRules;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::tlcs::Tlcs;
use neardup_core::sketches::sentence;
use neardup_core::verify::tlcs::{Parameters, Thresholds};

use crate::common::methods::tlcs;
use crate::common::pages;
use crate::common::run::{ENOUGH, Interrupted, find};
use crate::tlcs::text;

/// Pages with a frame in common are candidates; nothing of the frame is trustable and touches the
/// centre, which is known before the texts are aligned.
#[test]
fn pages_of_one_site_are_hardly_aligned() {
    let texts = pages::pages(200, 300, 33);
    let (found, account) = find(&tlcs(), Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
    let planted: BTreeSet<(u32, u32)> = (4..200).step_by(5).map(|page| (page - 1, page)).collect();
    assert_eq!(found.iter().map(|&(a, b, _)| (a, b)).collect::<BTreeSet<_>>(), planted);
    let counts = account.counts;
    assert!(counts.candidates > 10_000, "{counts:?}");
    assert!(counts.verified < counts.candidates / 20, "{counts:?}");
    assert_eq!(counts.verified + counts.pruned_by_sketch, counts.candidates);
}

/// A method that tries signatures of more than so many documents.
fn trying(tried_beyond: Option<u64>) -> Tlcs {
    Tlcs {
        signatures: sentence::SignatureParameters::default(),
        rules: StopRules { tried_beyond, ..StopRules::default() },
        parameters: Parameters::default(),
        thresholds: Thresholds { resemblance: 0.28, containment: Some(0.7) },
        weight: None,
        words: None,
        whole_sets: false,
    }
}

/// Signatures of a frame are dropped, and no near pair with them.
#[test]
fn frames_are_dropped_and_near_duplicates_stay() {
    for frame in [0, 10, 33, 50, 70] {
        let texts = pages::pages(600, 300, frame);
        let run = |case: &Tlcs| find(case, Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
        let (all, before) = run(&trying(None));
        let (found, account) = run(&trying(Some(64)));
        assert_eq!(found, all, "{frame}");
        let (in_files, counted) =
            find(&trying(Some(64)), Corpus::of_texts(&texts), &PlainThreads(2), 1 << 16);
        assert_eq!((in_files, counted.counts), (found, account.counts), "{frame}");
        assert!(account.counts.candidates <= before.counts.candidates);
        if frame == 33 {
            assert!(account.counts.stop_signatures > 0, "{:?}", account.counts);
            assert!(account.counts.candidates < before.counts.candidates, "{:?}", account.counts);
        }
    }
}

/// Four times as many pages of one site are no more than six times the work.
#[test]
fn work_grows_with_the_pages() {
    for frame in [10, 33, 70] {
        let [few, many] = [500, 2000].map(|count| {
            let texts = pages::pages(count, 300, frame);
            let (found, account) =
                find(&trying(Some(64)), Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
            assert!(found.len() as u64 >= count / 5 - 1);
            account.counts
        });
        assert!(many.candidates <= 6 * few.candidates, "{frame}: {few:?} {many:?}");
        assert!(many.verified <= 6 * few.verified, "{frame}: {few:?} {many:?}");
    }
}

/// Versions of one page, in one frame with others.
#[test]
fn versions_of_a_page_are_no_frame() {
    let texts: Vec<String> = (0..400u64)
        .map(|row| {
            let of = if row % 2 == 0 { row } else { 0 };
            let own =
                (0..20).map(|n| if row % 20 == n && row % 2 == 1 { row << 8 } else { (of + 1) << 20 | n });
            let own: Vec<u64> = (900..905).chain(own).chain(905..910).collect();
            text(&own)
        })
        .collect();
    let (all, _) = find(&trying(None), Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
    let (found, _) = find(&trying(Some(8)), Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
    assert!(all.len() >= 20_000, "{}", all.len());
    assert_eq!(found, all);
}

/// What is dropped depends on the texts and not on where they stand, how many threads there are, or
/// the memory.
#[test]
fn trials_do_not_depend_on_the_order() {
    let texts = pages::pages(300, 300, 33);
    let case = trying(Some(10));
    let (found, account) = find(&case, Corpus::of_texts(&texts), &PlainThreads(1), ENOUGH);
    assert!(account.counts.stop_signatures > 0 && !found.is_empty());
    let turned: Vec<String> = texts.iter().rev().cloned().collect();
    for executor in [&PlainThreads(3) as &dyn Executor, &Interrupted::default()] {
        for budget in [ENOUGH, 1 << 16] {
            let (again, counts) = find(&case, Corpus::of_texts(&texts), executor, budget);
            assert!(again == found && counts.counts.stop_signatures == account.counts.stop_signatures);
            let (other, counts) = find(&case, Corpus::of_texts(&turned), executor, budget);
            let mut other: Vec<_> = other.iter().map(|&(a, b, s)| (299 - b, 299 - a, s)).collect();
            other.sort_unstable();
            assert!(other == found && counts.counts.stop_signatures == account.counts.stop_signatures);
        }
    }
    for right_from in [100, 150] {
        let run = |case: &Tlcs| {
            find(case, Corpus::of_texts(&texts).split(Some(right_from)), &PlainThreads(2), ENOUGH).0
        };
        assert_eq!(run(&case), run(&trying(None)));
    }
    let sites: Vec<_> = (0..300).map(|row| Some((row / 100).to_string())).collect();
    let corpus = || Corpus::of_texts(&texts).with_sites(&sites).unwrap();
    let (of_sites, counts) = find(&case, corpus(), &PlainThreads(2), ENOUGH);
    assert!(of_sites == found && counts.counts.stop_signatures >= account.counts.stop_signatures);
}
