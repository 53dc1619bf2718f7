//! What machine this is: the line that every table of figures begins with. Machines differ by
//! factors, so only ratios of one run count; this says what they are ratios to.

use std::hint::black_box;
use std::time::Instant;

use neardup_core::hash;

/// Gigabytes a second and million keys a second, the best of some tries.
pub struct Machine {
    /// Copying memory that no cache holds; bytes copied, so each is read once and written once.
    pub memcpy: f64,
    /// XXH3 of keys of [`KEY`] bytes.
    pub keys: f64,
}

/// The length of a key: about that of five English words.
pub const KEY: usize = 30;

impl Machine {
    /// Takes about a second.
    pub fn measure() -> Self {
        const TRIES: usize = 5;
        const COPIED: usize = 128 << 20;
        let (from, mut to) = (vec![1u8; COPIED], vec![0u8; COPIED]);
        let memcpy = least(TRIES, || black_box(&mut to).copy_from_slice(black_box(&from)));
        let keys = &from[..KEY << 16];
        let hashed = least(TRIES, || {
            let (keys, _) = black_box(keys).as_chunks::<KEY>();
            black_box(keys.iter().fold(0, |sum: u64, key| sum.wrapping_add(hash::hash_bytes(key))));
        });
        Self { memcpy: COPIED as f64 / memcpy / 1e9, keys: f64::from(1 << 16) / hashed / 1e6 }
    }

    /// Prints the line.
    pub fn print(&self) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        println!(
            "Machine: {}, {threads} threads; memcpy {:.1} GB/s, xxh3 of {KEY}-byte keys {:.0} M/s",
            processor(),
            self.memcpy,
            self.keys
        );
    }
}

/// Seconds of the fastest of some tries.
fn least(tries: usize, mut work: impl FnMut()) -> f64 {
    let seconds = (0..tries).map(|_| {
        let began = Instant::now();
        work();
        began.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min)
}

/// The processor's name, as Linux tells it.
fn processor() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
