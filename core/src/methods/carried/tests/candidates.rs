//! The candidates among carried documents, in parts.

use super::*;

/// Finds the candidates among carried documents, in parts.
pub(super) fn candidates(
    carrier: &dyn Carrier,
    all: &[&[u8]],
    left_out: LeftOut<'_>,
    parts: u32,
) -> BTreeSet<(u64, u64)> {
    let stop = Stop::default();
    match carrier.meeting() {
        Meeting::Keys { filter: Some(predicate), .. } => {
            let mut joined: Vec<_> = (0..parts).map(|_| Part::new(predicate, MemoryFiles, 0)).collect();
            for (n, bytes) in (0..).zip(all) {
                let (mut own, set) = (Vec::new(), carrier.set(bytes, &stop).unwrap());
                carrier.keys(bytes, left_out, &mut own, &stop).unwrap();
                let rows = filtered_keys::groups(&own, &set, &Bounds::new(predicate), parts, &stop).unwrap();
                for (part, keys) in &rows.parts {
                    joined[*part as usize]
                        .add(n, rows.size, &rows.bitmap, Shared::Keys(keys), false)
                        .unwrap();
                }
            }
            in_each(joined)
        }
        Meeting::Keys { most, filter: None } | Meeting::Terms { most } => {
            by_keys(all, (parts, most), |bytes, own| carrier.keys(bytes, left_out, own, &stop).unwrap())
        }
        Meeting::Rarest => {
            let mut counts = TokenCounts::new(1000);
            for bytes in all.iter().step_by(2) {
                let set = carrier.set(bytes, &stop).unwrap();
                set.iter().for_each(|&hash| counts.add(hash, &stop).unwrap());
            }
            let order = ranks::ranks(&mut counts, 500, &stop).unwrap();
            let order = TokenRanks::parse(&order).unwrap();
            by_keys(all, (parts, None), |bytes, own| {
                let mut weighted = Vec::new();
                let needed = carrier.weights(bytes, &mut weighted, &stop).unwrap();
                keys::rarest(&weighted, needed, &order, own, &stop).unwrap();
            })
        }
        Meeting::Sets(predicate) => {
            let order = TokenRanks::parse(&[1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
            let mut joined: Vec<_> = (0..parts).map(|_| Part::new(predicate, MemoryFiles, 0)).collect();
            for (n, bytes) in (0..).zip(all) {
                let set = carrier.set(bytes, &stop).unwrap();
                let rows = groups(&set, &order, &Bounds::new(predicate), parts, &stop).unwrap();
                for (part, prefix) in &rows.parts {
                    joined[*part as usize]
                        .add(n, rows.size, &rows.bitmap, Shared::Tokens(prefix), false)
                        .unwrap();
                }
            }
            in_each(joined)
        }
    }
}

/// Returns the candidates by the keys that `keys_of` adds.
fn by_keys(
    all: &[&[u8]],
    (parts, most): (u32, Option<u64>),
    keys_of: impl Fn(&[u8], &mut Vec<Key>),
) -> BTreeSet<(u64, u64)> {
    let mut joined: Vec<_> = (0..parts).map(|_| KeyPart::new(MemoryFiles, 0, most)).collect();
    for (n, bytes) in (0..).zip(all) {
        let mut own = Vec::new();
        keys_of(bytes, &mut own);
        for (part, bytes) in keys::groups(&mut own, parts, &Stop::default()).unwrap().parts {
            joined[part as usize].add(n, &bytes, false).unwrap();
        }
    }
    let mut found = BTreeSet::new();
    for part in joined {
        part.candidates(&PlainThreads(1), &mut |a, b| {
            found.insert((a, b));
            Ok(())
        })
        .unwrap();
    }
    found
}

/// Returns the candidates of all parts.
fn in_each(parts: Vec<Part<MemoryFiles>>) -> BTreeSet<(u64, u64)> {
    let mut found = BTreeSet::new();
    for part in parts {
        part.candidates(&PlainThreads(1), &mut |a, b| {
            found.insert((a.min(b), a.max(b)));
            Ok(())
        })
        .unwrap();
    }
    found
}
