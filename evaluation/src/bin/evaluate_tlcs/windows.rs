//! What the filter strains away and what it keeps, as figure 7 of Huang et al. (CIKM 2008) has it:
//! means over pairs of the sets of some documents.

use neardup_core::executor::Stop;
use neardup_core::hash::mix;
use neardup_core::verify::tlcs::{Comparer, Parameters};

use crate::candidates::Pair;
use crate::chart::{self, Chart};
use crate::corpora::on_all;
use crate::inputs::{Input, sample};
use crate::measure::{Curves, compare, head, means, row, share};
use crate::of_sets::{pair, sets};
use crate::plot::table;

/// Documents whose sets are looked at, at most; as many as in the paper.
const DOCUMENTS: usize = 100;
/// Pairs of these sets, at most, of those with a label and of those without, and pairs at random.
const PAIRS: usize = 300;

/// Rates of the paper at widths of the window.
const STRAINED: [(f64, f64); 2] = [(6.0, 0.8), (16.0, 0.87)];
const RESERVED: [(f64, f64); 1] = [(16.0, 0.975)];

/// The pairs of the sets of some documents, with a label and without.
fn pairs_of_sets(input: &Input) -> [Vec<Pair>; 2] {
    let documents = input.some_with_labels(DOCUMENTS);
    let mut pairs: Vec<Pair> = sets(&documents, input.candidates.iter().copied())
        .iter()
        .flat_map(|(&document, set)| set.iter().map(move |&other| pair(document, other)))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    [true, false].map(|right| {
        sample(pairs.iter().copied().filter(|&pair| input.is_right(pair) == Some(right)).collect(), PAIRS)
    })
}

/// Pairs of documents that have nothing to do with each other, as far as labels say.
fn unrelated(input: &Input) -> Vec<Pair> {
    let documents = input.corpus.texts.len() as u64;
    let any = |n: u64| pair((mix(2 * n) % documents) as u32, (mix(2 * n + 1) % documents) as u32);
    let pairs = (0..PAIRS as u64).map(any);
    sample(pairs.filter(|&pair| pair.0 != pair.1 && input.is_right(pair) == Some(false)).collect(), PAIRS)
}

/// The share of each pair's characters that is not in its sketches, with the first document.
fn strained(input: &Input, pairs: &[Pair], window: u32) -> Vec<(u32, f64)> {
    let parameters = Parameters { window, trustable: false, ..Parameters::default() };
    let texts = &input.corpus.texts;
    on_all(
        pairs,
        || Comparer::new(parameters).expect("good parameters"),
        |comparer, &(a, b)| {
            let before = comparer.steps();
            comparer.compare(&texts[a as usize], &texts[b as usize], None, &Stop::default()).expect("memory");
            let after = comparer.steps();
            let kept = (after.kept - before.kept) as f64;
            (a, 1.0 - share(kept, (after.characters - before.characters) as f64))
        },
    )
}

/// Strain-away and reserve rate against the width of the window; their plots.
pub fn rates(inputs: &[Input]) -> [String; 2] {
    const WIDTHS: [u32; 12] = [2, 4, 6, 8, 10, 12, 16, 20, 30, 50, 70, 100];
    let (mut away, mut random, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    let mut curves: [Curves; 2] = Default::default();
    for input in inputs {
        let name = &input.corpus.name;
        let [labelled, others] = pairs_of_sets(input);
        let unrelated = unrelated(input);
        let shared =
            |window: u32| compare(&input.corpus, &labelled, Parameters { window, ..Parameters::default() });
        let whole = shared(0);
        let of_sets = WIDTHS.map(|window| strained(input, &others, window));
        let reserved = WIDTHS.map(|window| {
            let with = shared(window);
            let kept = with.iter().zip(&whole);
            let kept = kept.map(|(with, whole)| share(with.shared as f64, whole.shared as f64));
            labelled.iter().map(|pair| pair.0).zip(kept).collect::<Vec<_>>()
        });
        curves[0].add(input, &WIDTHS, &of_sets);
        curves[1].add(input, &WIDTHS, &reserved);
        away.push(row(name, &means(&of_sets)));
        random.push(row(name, &means(&WIDTHS.map(|window| strained(input, &unrelated, window)))));
        kept.push(row(name, &means(&reserved)));
    }
    // What the paper has, at the widths of which it says it.
    let paper = |at: &[(f64, f64)]| {
        let of = |width: u32| at.iter().find(|of| of.0 == f64::from(width)).map_or(f64::NAN, |of| of.1);
        row("the paper", &WIDTHS.map(of))
    };
    away.push(paper(&STRAINED));
    kept.push(paper(&RESERVED));
    println!(
        "### Strain-away rate of sets against the width of the window: pairs without a label (Figure 7)\n"
    );
    table(&head("corpus", &WIDTHS), &away);
    println!("### Strain-away rate: pairs at random\n");
    table(&head("corpus", &WIDTHS), &random);
    println!("### Reserve rate of sets: TLCS with the filter / TLCS without it, pairs with a label\n");
    table(&head("corpus", &WIDTHS), &kept);
    println!("![Strain-away rate](tlcs_window.svg)\n\n![Reserve rate](tlcs_reserve.svg)\n");
    let plot = |n: usize, title: &str, paper: &[(f64, f64)]| {
        chart::svg(&Chart {
            title,
            x_title: "width of the window",
            factors: true,
            x_ticks: &[2.0, 4.0, 6.0, 10.0, 16.0, 30.0, 50.0, 100.0],
            curves: &curves[n].0,
            paper,
            paper_name: "the paper",
        })
    };
    [
        plot(0, "Strain-away rate of sets: pairs without a label", &STRAINED),
        plot(1, "Reserve rate of sets: pairs with a label", &RESERVED),
    ]
}
