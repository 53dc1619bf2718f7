//! How the time of elimination grows.

use std::cmp::Reverse;
use std::time::Instant;

use neardup_core::clusters::elimination::Elimination;
use neardup_core::executor::{PlainThreads, Stop};
use neardup_core::features::codes::{CodeSpec, feature_code};

use crate::corpora::on_all;
use crate::{log_plot, made, plot};

/// Prints the table for numbers of documents below `end`, and gives the plot.
pub fn measure(end: u64) -> String {
    const SIZES: [u64; 7] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
    const THRESHOLD: f64 = 0.75;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut lines: Vec<log_plot::Line> =
        [format!("{threads} threads"), "1 thread".to_owned(), "making codes".to_owned()]
            .map(|name| (name, Vec::new()))
            .into();
    let mut rows = Vec::new();
    for size in SIZES.into_iter().filter(|&size| size < end) {
        let spec = CodeSpec::default();
        let numbers: Vec<u64> = (0..size).collect();
        // Documents are made apart from their codes, so that only the codes are timed.
        let (mut codes, mut making) = (Vec::new(), 0.0);
        for numbers in numbers.chunks(100_000) {
            let texts = on_all(numbers, || (), |(), &number| made::document(number));
            let began = Instant::now();
            codes.extend(on_all(
                &texts,
                || (),
                |(), text| feature_code(text, &spec, &Stop::default()).expect("memory"),
            ));
            making += began.elapsed().as_secs_f64();
        }
        codes.sort_by_cached_key(|code: &String| Reverse(code.chars().count()));
        let characters: usize = codes.iter().map(|code| code.chars().count()).sum();
        let run = |threads| {
            let began = Instant::now();
            let mut elimination = Elimination::new(&codes[..], THRESHOLD, 1 << 30).expect("memory");
            let mut most = 0;
            while elimination.advance(&PlainThreads(threads)).expect("memory") {
                most = most.max(elimination.bytes());
            }
            let gone = elimination.kept().expect("memory").iter().flatten().count();
            (began.elapsed().as_secs_f64(), gone, most)
        };
        // The smallest sizes are over at once: the best of three.
        let best = |threads| {
            let runs = (0..if size <= 100_000 { 3 } else { 1 }).map(|_| run(threads));
            runs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a run")
        };
        let ((all, gone, bytes), (one, _, _)) = (best(threads), best(1));
        for (line, time) in lines.iter_mut().zip([all, one, making]) {
            line.1.push((size as f64, time));
        }
        let micro = |time: f64| format!("{:.1}", time * 1e6 / size as f64);
        rows.push(vec![
            size.to_string(),
            characters.to_string(),
            gone.to_string(),
            format!("{making:.3}"),
            format!("{all:.3}"),
            micro(all),
            format!("{one:.3}"),
            micro(one),
            format!("{:.1}", bytes as f64 / 1e6),
        ]);
    }
    println!("### Time of elimination\n");
    let many = format!("{threads} threads, s");
    let head = [
        "documents",
        "characters of codes",
        "eliminated",
        "making codes, s",
        &many,
        "µs a document",
        "1 thread, s",
        "µs a document",
        "MB",
    ];
    plot::table(&head.map(str::to_owned), &rows);
    println!("![Time of elimination](codes_time.svg)\n");
    let plot = log_plot::Plot {
        title: "Time of elimination by repeatability at 0.75",
        x_title: "documents",
        unit: "s",
        dots: false,
    };
    log_plot::svg(&plot, &lines)
}
