//! Prints made records, one a line, as `id<TAB>text`: `make_records COUNT WORDS`.
//!
//! A record has two to four thirds of WORDS words of a skewed vocabulary of two million. Every fifth
//! is one of the last 100,000 records, with up to 15 % of its words replaced. The same arguments
//! give the same records. A hundred million of 20 words take some minutes, so that a table of
//! them can be filled through a pipe.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

const VOCABULARY: usize = 2_000_000;
/// The number of earlier records of which one can come again.
const KEPT: usize = 100_000;
/// Letters, from the most frequent one on.
const LETTERS: &[u8; 26] = b"etaoinshrdlucmfwypvbgkjqxz";

/// A generator of pseudo-random numbers: Steele, Lea and Flood, Fast splittable pseudorandom number
/// generators (OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which is small beside 2^64.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// Returns a number of (0, 1].
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Returns the number of a word by Zipf's law with the exponent 1.12. All that lies beyond the
    /// vocabulary is its last word.
    fn word(&mut self) -> u32 {
        (self.unit().powf(-1.0 / 0.12) as usize).min(VOCABULARY) as u32 - 1
    }
}

/// Makes distinct words of 3 to 10 letters.
fn vocabulary(random: &mut Random) -> Vec<String> {
    let (mut words, mut seen) = (Vec::with_capacity(VOCABULARY), HashSet::new());
    while words.len() < VOCABULARY {
        let length = 3 + random.below(8);
        let letter = |random: &mut Random| {
            let rank = (random.unit().ln() / 0.91f64.ln()) as usize;
            char::from(LETTERS[rank.min(LETTERS.len() - 1)])
        };
        let word: String = (0..length).map(|_| letter(random)).collect();
        if seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

fn main() -> io::Result<()> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|number| number.parse().ok()).collect();
    let &[count, words] = numbers.as_slice() else {
        eprintln!("make_records COUNT WORDS");
        std::process::exit(2);
    };
    let mut random = Random(7);
    let vocabulary = vocabulary(&mut random);
    let mut kept: Vec<Vec<u32>> = Vec::new();
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    for id in 1..=count {
        let record = if id.is_multiple_of(5) && !kept.is_empty() {
            let mut record = kept[random.below(kept.len())].clone();
            for _ in 0..random.below((record.len() * 15 / 100).max(1)) {
                let place = random.below(record.len());
                record[place] = random.below(VOCABULARY) as u32;
            }
            record
        } else {
            let length = words * 2 / 3 + random.below(words * 2 / 3 + 1);
            (0..length).map(|_| random.word()).collect()
        };
        write!(out, "{id}\t")?;
        for (place, &word) in record.iter().enumerate() {
            out.write_all(if place == 0 { b"" } else { b" " })?;
            out.write_all(vocabulary[word as usize].as_bytes())?;
        }
        out.write_all(b"\n")?;
        if kept.len() < KEPT {
            kept.push(record);
        } else {
            kept[random.below(KEPT)] = record;
        }
    }
    out.flush()
}
