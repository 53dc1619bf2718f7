//! scratch
mod made;
use neardup::clusters::repeated::*;
use neardup::features::codes::*;
use neardup::workers::*;
use std::time::Instant;
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let t = Instant::now();
    let spec = CodeSpec::default();
    let texts: Vec<u64> = (0..n).collect();
    let parts: Vec<Vec<String>> = std::thread::scope(|s| {
        let hs: Vec<_> = texts
            .chunks(n.div_ceil(4) as usize)
            .map(|c| {
                let spec = &spec;
                s.spawn(move || {
                    c.iter()
                        .map(|&i| feature_code(&made::document(i), spec, &Stop::default()).unwrap())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        hs.into_iter().map(|h| h.join().unwrap()).collect()
    });
    let mut codes: Vec<(usize, u64, String)> =
        parts.into_iter().flatten().zip(0..).map(|(c, i)| (c.chars().count(), i, c)).collect();
    println!("codes {:?}", t.elapsed());
    if n < 5 {
        for c in &codes {
            println!("{}", c.2);
        }
        println!("{}", made::document(1));
    }
    codes.sort_by_key(|c| (std::cmp::Reverse(c.0), c.1));
    let codes: Vec<String> = codes.into_iter().map(|c| c.2).collect();
    let chars: usize = codes.iter().map(|c| c.chars().count()).sum();
    let t = Instant::now();
    let budget = std::env::args().nth(2).map_or(usize::MAX / 4, |b| b.parse::<usize>().unwrap() << 20);
    let mut e = Elimination::new(&codes[..], 0.75, budget).unwrap();
    let mut most = 0;
    while e.advance(&PlainThreads(4)).unwrap() {
        most = most.max(e.bytes());
    }
    let gone = e.kept().unwrap().iter().flatten().count();
    println!(
        "{n} docs {chars} chars {gone} gone {:?} {} MB, {:.1} B/char of all",
        t.elapsed(),
        most >> 20,
        most as f64 / chars as f64
    );
    let rss = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", rss.lines().find(|l| l.starts_with("VmHWM")).unwrap());
}
