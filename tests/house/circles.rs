//! Circles among files or folders: parts of which each uses each other, if only through others.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::arrows::Arrows;

/// One text for each circle: the shortest way round, and each arrow between two that are in it with
/// the names used.
pub fn circles(arrows: &Arrows) -> Vec<String> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(from).or_default().insert(to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|from| (*from, reached(from, &next))).collect();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for (from, to) in &reach {
        if !to.contains(from) || told.contains(from) {
            continue;
        }
        let circle: BTreeSet<&str> = to
            .iter()
            .copied()
            .filter(|other| reach.get(other).is_some_and(|back| back.contains(from)))
            .collect();
        told.extend(&circle);
        let round = circle.iter().map(|from| way_round(from, &next)).min_by_key(Vec::len).unwrap_or_default();
        let mut text = format!("a circle of {}, such as {}:", circle.len(), round.join(" -> "));
        for ((from, to), names) in arrows {
            if circle.contains(from.as_str()) && circle.contains(to.as_str()) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                text += &format!("\n    {from} -> {to}  ({})", names.join(", "));
            }
        }
        found.push(text);
    }
    found
}

fn reached<'a>(from: &'a str, next: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut to_do = vec![from];
    while let Some(at) = to_do.pop() {
        to_do.extend(next.get(at).into_iter().flatten().filter(|to| seen.insert(**to)));
    }
    seen
}

/// The shortest way from one of a circle back to it.
fn way_round<'a>(from: &'a str, next: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<&'a str> {
    let mut came_from = BTreeMap::new();
    let mut to_do = VecDeque::from([from]);
    while let Some(at) = to_do.pop_front() {
        for to in next.get(at).into_iter().flatten() {
            if !came_from.contains_key(to) {
                came_from.insert(*to, at);
                to_do.push_back(*to);
            }
        }
        if came_from.contains_key(from) {
            break;
        }
    }
    let mut way = vec![from];
    while way.len() == 1 || way[way.len() - 1] != from {
        way.push(came_from[way[way.len() - 1]]);
    }
    way.reverse();
    way
}

/// The arrows among the entries of a folder: files and folders, but not its `mod.rs`, which may
/// speak of all of them.
pub fn within(folder: &str, arrows: &Arrows) -> Arrows {
    let entry = |file: &str| {
        let below = file.strip_prefix(folder)?.strip_prefix('/')?;
        let name = below.split('/').next()?;
        (!["mod.rs", "lib.rs"].contains(&name)).then(|| format!("{folder}/{name}"))
    };
    let mut collapsed = Arrows::new();
    for ((from, to), names) in arrows {
        if let (Some(a), Some(b)) = (entry(from), entry(to))
            && a != b
        {
            let names = names.iter().map(|name| format!("{name} of {to} in {from}"));
            collapsed.entry((a, b)).or_default().extend(names);
        }
    }
    collapsed
}
