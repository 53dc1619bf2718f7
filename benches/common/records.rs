//! Short documents: names with addresses, made from fixed numbers.
#![allow(dead_code, reason = "each benchmark uses some of it")]

use neardup_core::hash::mix;

/// A name with an address; every eighth differs in its number alone from the one before.
pub fn record(row: u64) -> String {
    let of = if row % 8 == 7 { row - 1 } else { row };
    let word = |n: u64, all: f64| {
        // Few words are frequent, as in languages.
        let chance = (mix(of << 8 | n) % 1_000_000 + 1) as f64 / 1e6;
        all.powf(chance * chance) as u64
    };
    let parts = [3000.0, 50_000.0, 900.0, 200.0, 40.0];
    let words = (0..).zip(parts).map(|(n, all)| format!("p{n}w{} ", word(n, all)));
    format!("{}h{}", words.collect::<String>(), mix(row) % 200)
}

/// The same with a street and a postcode, which are as frequent as others.
pub fn address(row: u64) -> String {
    let of = if row % 8 == 7 { row - 1 } else { row };
    let word = |n: u64, all: u64| mix(of << 8 | n) % all;
    format!("{} s{} t{}", record(row), word(100, 30_000), word(101, 20_000))
}
