//! The pair steps of the methods `lcs` and `tlcs`: milliseconds a pair of 10 KB texts.
//!
//!     cargo bench -p neardup-benches --bench lcs [-- FOLDER]
//!
//! All texts are made here, from fixed numbers. With a folder, the pairs are also written there,
//! for benches/peers/rapidfuzz_lcs.py, which prints the same table of another program.

#[path = "common/machine.rs"]
mod machine;

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use neardup_core::executor::Stop;
use neardup_core::hash;
use neardup_core::verify::lcs::{Lcs, LcsBounds, resemblance, symbols};
use neardup_core::verify::lcs_band::Band;
use neardup_core::verify::lcs_greedy::Greedy;
use neardup_core::verify::tlcs::{Comparer, Parameters, Thresholds};

const CHARACTERS: usize = 10 << 10;
const PAIRS: u64 = 8;

/// Words of made-up letters, the frequent ones short.
fn text(seed: u64) -> String {
    let mut text = String::new();
    for n in 0.. {
        let share = hash::mix(seed << 32 | n) as f64 / u64::MAX as f64;
        let rank = 3000f64.powf(share) as u64;
        for k in 0..2 + u64::from(rank.ilog2()) / 2 {
            let letter = hash::mix(rank * 64 + k);
            // As in languages, some letters are more frequent than others.
            text.push(char::from(b'a' + ((letter % 26).min(letter / 26 % 26)) as u8));
        }
        text.push(if n % 13 == 12 { '.' } else { ' ' });
        if text.len() >= CHARACTERS {
            break;
        }
    }
    text.truncate(CHARACTERS);
    text
}

/// So many per cent of the characters replaced, left out or doubled, each as often.
fn edited(text: &str, per_cent: u64, seed: u64) -> String {
    let mut edited = String::new();
    for (n, character) in text.chars().enumerate() {
        let random = hash::mix(seed ^ hash::mix(n as u64));
        let other = char::from(b'a' + (random >> 32) as u8 % 26);
        match (random % 100 < per_cent, random / 100 % 3) {
            (true, 0) => edited.push(other),
            (true, 1) => {}
            (true, _) => edited.extend([character, other]),
            (false, _) => edited.push(character),
        }
    }
    edited
}

/// Milliseconds of one call for each of the pairs together, divided by their number: the best of
/// some.
fn time(pairs: &[(String, String)], mut work: impl FnMut(&str, &str)) -> f64 {
    let seconds = (0..9).map(|_| {
        let began = Instant::now();
        pairs.iter().for_each(|(a, b)| work(black_box(a), black_box(b)));
        began.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min) * 1000.0 / pairs.len() as f64
}

fn main() {
    machine::Machine::measure().print();
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!("\n| differ by | LCS, ms | with a threshold | one over it | greedy alone | whole table |");
    println!("|---|---|---|---|---|---|");
    let stop = Stop::default();
    let mut lcs = Lcs::default();
    for per_cent in [0, 1, 2, 5, 10, 20, 100] {
        let pairs: Vec<(String, String)> = (0..PAIRS)
            .map(|n| {
                let (a, seed) = (text(n), n << 8 | per_cent);
                let b = if per_cent == 100 { text(n + 1000) } else { edited(&a, per_cent, seed) };
                (a, b)
            })
            .collect();
        if let Some(folder) = &folder {
            let mut file = File::create(format!("{folder}/{per_cent}.tsv")).expect("a file");
            pairs.iter().for_each(|(a, b)| writeln!(file, "{a}\t{b}").expect("space"));
        }
        let read = |a: &str, b: &str| (symbols(a).expect("memory"), symbols(b).expect("memory"));
        let lengths: Vec<usize> = pairs
            .iter()
            .map(|(a, b)| {
                let (a, b) = read(a, b);
                lcs.length(&a, &b, LcsBounds::default(), &stop).expect("memory").expect("no threshold")
            })
            .collect();
        let exact = time(&pairs, |a, b| {
            let (a, b) = read(a, b);
            black_box(lcs.length(&a, &b, LcsBounds::default(), &stop)).expect("memory");
        });
        let mut bounded = |more: usize| {
            let mut n = 0;
            time(&pairs, |a, b| {
                let (a, b) = read(a, b);
                let least = lengths[n % lengths.len()] + more;
                n += 1;
                black_box(lcs.length(&a, &b, LcsBounds::least(least), &stop)).expect("memory");
            })
        };
        let (at, over) = (bounded(0), bounded(1));
        let greedy = (per_cent <= 20).then(|| {
            let mut greedy = Greedy::default();
            time(&pairs[..2], |a, b| {
                let (a, b) = read(a, b);
                black_box(greedy.compare(&a, &b, usize::MAX, &stop)).expect("memory");
            })
        });
        let whole = time(&pairs, |a, b| {
            let (a, b) = read(a, b);
            black_box(Band::default().distance::<false>(&a, &b, a.len() + b.len(), &stop)).expect("memory");
        });
        let mean: f64 = pairs
            .iter()
            .zip(&lengths)
            .map(|((a, b), &length)| resemblance(length, a.len(), b.len()))
            .sum::<f64>()
            / pairs.len() as f64;
        let greedy = greedy.map_or("-".to_owned(), |ms| format!("{ms:.3}"));
        println!(
            "| {per_cent} % (resemblance {mean:.3}) | {exact:.3} | {at:.3} | {over:.3} | {greedy} | {whole:.3} |"
        );
    }
    println!("\n| pairs | with the filter, ms | without | ratio | both texts read anew | characters kept |");
    println!("|---|---|---|---|---|---|");
    let thresholds = Thresholds { resemblance: 0.28, containment: Some(0.7) };
    for (name, per_cent) in [("unrelated", 100), ("differ by 5 %", 5)] {
        let a = text(0);
        let other = |n| if per_cent == 100 { text(n + 1000) } else { edited(&a, per_cent, n) };
        let pairs: Vec<(String, String)> = (0..PAIRS).map(|n| (a.clone(), other(n))).collect();
        // As in a join: one text is compared with others.
        let step = |window: u32, anew: bool| {
            let parameters = Parameters { window, ..Parameters::default() };
            let mut comparer = Comparer::new(parameters).expect("good parameters");
            comparer.set_left(&a, &stop).expect("memory");
            let milliseconds = time(&pairs, |a, b| {
                if anew {
                    comparer.set_left(a, &stop).expect("memory");
                }
                black_box(comparer.compare_right(b, false, Some(&thresholds), &stop)).expect("memory");
            });
            let steps = comparer.steps();
            (milliseconds, steps.kept as f64 / steps.characters as f64)
        };
        let ((with, kept), (anew, _), (without, _)) = (step(16, false), step(16, true), step(0, false));
        println!("| {name} | {with:.3} | {without:.3} | {:.1} | {anew:.3} | {kept:.3} |", without / with);
    }
}
