//! Circles among files or folders: parts of which each uses each other, if only through others.

use std::collections::{BTreeMap, BTreeSet};

use crate::arrows::Arrows;

/// One text for each circle: who is in it, and each arrow between two of them with the names used.
pub fn circles(arrows: &Arrows) -> Vec<String> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(from).or_default().insert(to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|from| (*from, reached(from, &next))).collect();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for (from, to) in &reach {
        if !to.contains(from) || told.contains(from) {
            continue;
        }
        let circle: BTreeSet<&str> =
            to.iter().copied().filter(|other| reach.get(other).is_some_and(|back| back.contains(from))).collect();
        told.extend(&circle);
        let mut text = format!("a circle of {}:", circle.len());
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

/// The arrows among the entries of a folder: files and folders, but not its `mod.rs`, which may speak of all of them.
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
