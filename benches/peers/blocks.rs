//! All pairs of 64-bit vectors at a Hamming distance of at most 3 as Manku, Jain and Das Sarma (WWW
//! 2007) have it: four tables, each sorted by another block of 16 bits, and those of equal blocks
//! compared with each other. Plain Rust on one thread, with the processor's instruction that counts
//! bits.

/// The pairs, counted, and how many were compared.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub pairs: u64,
    pub compared: u64,
}

/// A pair counts in the first table in which its blocks are equal. Vectors that are equal are
/// pairs, too.
pub fn join(vectors: &[u64]) -> Found {
    let mut found = Found::default();
    for table in 0..4 {
        // The block on top, and behind it where the vector stands, which whoever wants the pairs
        // needs.
        let mut sorted: Vec<(u64, u32)> =
            (0..).zip(vectors).map(|(n, vector)| (vector.rotate_left(16 * table), n)).collect();
        sorted.sort_unstable();
        for run in sorted.chunk_by(|(a, _), (b, _)| a >> 48 == b >> 48) {
            found.compared += (run.len() * (run.len() - 1) / 2) as u64;
            found.pairs += compare(run, table);
        }
    }
    found
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // One instruction that not every processor has.
fn compare(run: &[(u64, u32)], table: u32) -> u64 {
    #[target_feature(enable = "popcnt")]
    fn counted(run: &[(u64, u32)], table: u32) -> u64 {
        all_with_all(run, table)
    }
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the instruction.
        unsafe { counted(run, table) }
    } else {
        all_with_all(run, table)
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn compare(run: &[(u64, u32)], table: u32) -> u64 {
    all_with_all(run, table)
}

#[inline(always)]
fn all_with_all(run: &[(u64, u32)], table: u32) -> u64 {
    let mut pairs = Vec::new();
    let mut count = 0;
    for (n, (a, left)) in run.iter().enumerate() {
        for (b, right) in &run[n + 1..] {
            let differ = a ^ b;
            if differ.count_ones() <= 3 {
                let differ = differ.rotate_right(16 * table);
                if (0..table).all(|before| differ.rotate_left(16 * before) >> 48 != 0) {
                    pairs.push((*left, *right));
                }
            }
        }
        count += pairs.len() as u64;
        std::hint::black_box(&pairs);
        pairs.clear();
    }
    count
}
