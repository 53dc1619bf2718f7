//! Candidates of All-Pairs where the whole prefix that is probed is indexed, too: what Lemma 3 of
//! the paper spares.

use std::collections::{HashMap, HashSet};

/// Pairs of distinct sets with a token in both prefixes of length |x| - ceil(t |x|) + 1, whose
/// sizes go together.
pub fn candidates(sets: &[Vec<i64>], t: f64) -> u64 {
    let mut frequency: HashMap<i64, u32> = HashMap::new();
    let distinct: HashSet<&Vec<i64>> = sets.iter().collect();
    distinct.iter().flat_map(|set| set.iter()).for_each(|&token| *frequency.entry(token).or_default() += 1);
    let mut records: Vec<Vec<(u32, i64)>> = distinct
        .iter()
        .map(|set| {
            let mut record: Vec<_> = set.iter().map(|&token| (frequency[&token], token)).collect();
            record.sort_unstable();
            record
        })
        .collect();
    records.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    let mut lists: HashMap<i64, Vec<u32>> = HashMap::new();
    let (mut met, mut count) = (vec![u32::MAX; records.len()], 0);
    for (number, record) in records.iter().enumerate() {
        // A little less than the bound, so that rounding loses none.
        let least = (record.len() as f64 * t - 1e-9).ceil() as usize;
        for &(_, token) in &record[..=record.len() - least] {
            let list = lists.entry(token).or_default();
            for &other in list.iter() {
                let fits = records[other as usize].len() >= least;
                if fits && std::mem::replace(&mut met[other as usize], number as u32) != number as u32 {
                    count += 1;
                }
            }
            list.push(number as u32);
        }
    }
    count
}
