//! gaoya from texts to pairs: minhash of 5-word shingles, 128 values, LSH bands as gaoya chooses
//! them.
//!
//!     gaoya-peer FILE.tsv THRESHOLD OUT
//!
//! Writes the numbers of the lines of each pair to OUT; prints the seconds from the file to the
//! pairs. RAYON_NUM_THREADS says how many threads.

use std::fmt::Write;
use std::time::Instant;

use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, calculate_minhash_params};
use rayon::prelude::*;

const SHINGLE: usize = 5;
const VALUES: usize = 128;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mut arg = || args.next().ok_or("usage: gaoya-peer FILE.tsv THRESHOLD OUT");
    let (file, threshold, out) = (arg()?, arg()?.parse()?, arg()?);
    let began = Instant::now();
    let texts = std::fs::read_to_string(file)?;
    let lines: Vec<&str> = texts.lines().collect();
    let (bands, rows) = calculate_minhash_params(threshold, VALUES);
    let hasher = MinHasher32::new(bands * rows);
    let signatures: Vec<Vec<u32>> = lines
        .par_iter()
        .map(|line| {
            let text = line.split_once('\t').map_or("", |(_, text)| text).to_lowercase();
            let words: Vec<&str> =
                text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            match words.len() {
                0..SHINGLE => hasher.create_signature(std::iter::once(&words[..])),
                _ => hasher.create_signature(words.windows(SHINGLE)),
            }
        })
        .collect();
    let mut index = MinHashIndex::new(bands, rows, threshold);
    index.par_bulk_insert((0..lines.len() as u32).collect(), signatures.clone());
    let found = index.par_bulk_query(&signatures);
    let mut pairs = String::new();
    for (line, others) in (0u32..).zip(found) {
        for other in others.into_iter().filter(|&other| other > line) {
            writeln!(pairs, "{}\t{}", line + 1, other + 1)?;
        }
    }
    println!("{:.3}", began.elapsed().as_secs_f64());
    std::fs::write(out, pairs)?;
    Ok(())
}
