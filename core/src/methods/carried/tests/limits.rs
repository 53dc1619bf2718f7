//! The pairs of texts in parts: of all, and of one group and of different sources.

use super::*;

/// Finds the pairs of texts of these places in parts.
pub(super) fn carried_in_parts<'a>(
    carrier: &dyn Carrier,
    texts: &[String],
    places: &dyn Fn(usize) -> Places<'a>,
    parts: u32,
) -> Found {
    let stop = Stop::default();
    let all: Vec<Vec<u8>> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| carried(carrier, &Document::Text(text.clone()), places(n), &stop).unwrap())
        .collect();
    let mut having: BTreeMap<u64, u64> = BTreeMap::new();
    if matches!(carrier.meeting(), Meeting::Terms { .. }) {
        for bytes in &all {
            let terms = carrier.set(content(bytes).unwrap(), &stop).unwrap();
            terms.into_iter().for_each(|term| *having.entry(term).or_default() += 1);
        }
    }
    let out = having.into_iter().filter(|&(_, having)| !carrier.counts(having, texts.len() as u64));
    let left_out: Vec<u8> = out.flat_map(|(term, _)| term.to_le_bytes()).collect();
    let left_out = LeftOut::parse(&left_out).unwrap();
    // Documents with the same bytes are one record, unless they are not similar.
    let mut records: Vec<(&[u8], Vec<u64>)> = Vec::new();
    for (n, bytes) in (0..).zip(&all).filter(|(_, bytes)| !bytes.is_empty()) {
        match records.iter_mut().find(|(other, _)| other == bytes && bytes[0] == 1) {
            Some((_, rows)) => rows.push(n),
            None => records.push((bytes, vec![n])),
        }
    }
    let contents: Vec<&[u8]> = records.iter().map(|(bytes, _)| content(bytes).unwrap()).collect();
    let mut found = Found::new();
    for (_, rows) in &records {
        for (n, &a) in rows.iter().enumerate() {
            found.extend(rows[n + 1..].iter().map(|&b| ((a, b), 1f64.to_bits())));
        }
    }
    for (a, b) in candidates(carrier, &contents, left_out, parts) {
        let pair = [a, b].map(|n| contents[n as usize]);
        let Some(similarity) = carrier.similarity(pair, left_out, &stop).unwrap() else { continue };
        for &x in &records[a as usize].1 {
            for &y in &records[b as usize].1 {
                found.insert((x.min(y), x.max(y)), similarity.to_bits());
            }
        }
    }
    found
}

/// Checks the pairs of one group and of different sources: those of all pairs. Some documents have
/// neither. Terms count in a group, so they are the same only without groups.
pub(super) fn check_limits(name: &str, carrier: &dyn Carrier, texts: &[String], all: &Found) {
    let value = |n: u64| match mix(n) % 5 {
        0 => None,
        1 => Some(""),
        2 => Some("one"),
        _ => Some("another, and a large one"),
    };
    let has_groups = !matches!(carrier.meeting(), Meeting::Terms { .. });
    let places = |n: usize| {
        // Terms of documents without a source do not count.
        let source = value(n as u64 + 10_000).or((!has_groups).then_some("no other"));
        Places { site: None, group: value(n as u64), source }
    };
    for (within, across) in [(true, false), (true, true), (false, true)] {
        if within && !has_groups {
            continue;
        }
        let rows = ComparedRows { within, across };
        let differ = |[a, b]: [Option<&str>; 2]| matches!((a, b), (Some(a), Some(b)) if a != b);
        let is_compared = |pair: &(u64, u64)| {
            let [a, b] = [pair.0, pair.1].map(|n| places(n as usize));
            (!within || (a.group.is_some() && a.group == b.group))
                && (!across || differ([a.source, b.source]))
        };
        let expected: Found =
            all.iter().filter(|(pair, _)| is_compared(pair)).map(|(&pair, &of)| (pair, of)).collect();
        let found = carried_in_parts(&Limited { carrier, rows }, texts, &places, 3);
        assert_eq!(found, expected, "{name} {rows:?}");
    }
}
