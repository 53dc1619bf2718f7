//! Perhaps-similar sets, built before any pair is compared (Huang et al., TLCS (CIKM 2008), section
//! 3.2; docs/design/algorithms.md section 5): documents are grouped by the signatures they share,
//! each group around a representative. [`super::of_pairs`] builds such sets from pairs that were
//! found.
//!
//! The representative of a signature's list is the document in the list that has the most
//! signatures; if there are several, the one that arrived last. Lists with the same representative
//! are merged into one list. Sets are built from the greatest representative down: every list whose
//! representative is in the current set is merged into the set, and this is repeated for
//! representatives that a merge adds. A document may be in several sets. O(postings + documents·log
//! documents).

use crate::error::Result;
use crate::executor::Stop;
use crate::joins::sentences::signature_lists::SignatureLists;
use crate::memory;

const DOING: &str = "making perhaps-similar sets";

/// A set of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// The document around which the set was built.
    pub representative: u32,
    /// All documents of the set, including the representative, in ascending order.
    pub documents: Vec<u32>,
}

/// Returns the sets in descending order of their representatives. `arrival` numbers the documents
/// in the order in which they arrived. `weights` contains the weight of each document, which may be
/// that of the lists or another one.
pub fn signature_sets<W: Ord>(
    lists: &SignatureLists,
    weights: &[W],
    arrival: &[u32],
    stop: &Stop,
) -> Result<Vec<Set>> {
    let key = |document: u32| (&weights[document as usize], arrival[document as usize]);
    // The lists of each representative, which form one list.
    let mut of: Vec<(u32, u32)> = Vec::new();
    memory::reserve(&mut of, lists.len(), DOING)?;
    for list in 0..lists.len() {
        stop.check_every(list, 1024)?;
        let representative = lists.documents(list).iter().copied().max_by_key(|&document| key(document));
        of.extend(representative.map(|representative| (representative, list as u32)));
    }
    crate::executor::sort_unstable_by(&mut of, stop, &|a, b| key(b.0).cmp(&key(a.0)).then_with(|| a.cmp(b)))?;
    // The place of the lists of each representative, or NONE once they have been merged.
    const NONE: u32 = u32::MAX;
    let mut place = memory::filled(NONE, lists.weights().len(), DOING)?;
    for (n, &(representative, _)) in of.iter().enumerate().rev() {
        place[representative as usize] = n as u32;
    }
    let mut sets = Vec::new();
    let mut last = memory::filled(NONE, lists.weights().len(), DOING)?;
    for n in 0..of.len() {
        let (representative, _) = of[n];
        if place[representative as usize] != n as u32 {
            continue;
        }
        let number = sets.len() as u32;
        let mut documents = Vec::new();
        memory::push(&mut documents, representative, DOING)?;
        last[representative as usize] = number;
        let mut next = 0;
        while next < documents.len() {
            stop.check()?;
            let document: u32 = documents[next];
            next += 1;
            let from = std::mem::replace(&mut place[document as usize], NONE);
            if from == NONE {
                continue;
            }
            for &(_, list) in of[from as usize..].iter().take_while(|(own, _)| *own == document) {
                for &other in lists.documents(list as usize) {
                    if last[other as usize] != number {
                        last[other as usize] = number;
                        memory::push(&mut documents, other, DOING)?;
                    }
                }
            }
        }
        documents.sort_unstable();
        memory::push(&mut sets, Set { representative, documents }, DOING)?;
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// The steps of docs/design/algorithms.md section 5, taken literally.
    fn stepwise(lists: &[Vec<u32>], weights: &[u32]) -> Vec<(u32, BTreeSet<u32>)> {
        let key = |d: &u32| (weights[*d as usize], *d);
        let mut merged: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        for list in lists.iter().filter(|list| list.len() > 1) {
            let representative = *list.iter().max_by_key(|d| key(d)).unwrap();
            merged.entry(key(&representative)).or_default().extend(list);
        }
        let mut rest: Vec<(u32, BTreeSet<u32>)> =
            merged.into_iter().rev().map(|(k, set)| (k.1, set)).collect();
        let mut sets = Vec::new();
        while !rest.is_empty() {
            let (representative, mut set) = rest.remove(0);
            while let Some(n) = rest.iter().position(|(other, _)| set.contains(other)) {
                set.extend(rest.remove(n).1);
            }
            sets.push((representative, set));
        }
        sets
    }

    proptest! {
        #[test]
        fn equals_the_steps(
            lists in prop::collection::vec(prop::collection::btree_set(0..20u32, 2..5), 0..15),
            weights in prop::collection::vec(0..5u32, 20),
        ) {
            let lists: Vec<Vec<u32>> = lists.into_iter().map(|list| list.into_iter().collect()).collect();
            let made = SignatureLists::of_documents(&lists, weights.clone()).unwrap();
            let arrival: Vec<u32> = (0..20).collect();
            let sets = signature_sets(&made, &weights, &arrival, &Stop::default()).unwrap();
            let found: Vec<_> =
                sets.into_iter().map(|set| (set.representative, set.documents.into_iter().collect())).collect();
            prop_assert_eq!(&found, &stepwise(&lists, &weights));
            // Documents with a signature in common are in one set.
            for list in &lists {
                prop_assert!(found.iter().any(|(_, set)| list.iter().all(|document| set.contains(document))));
            }
        }
    }

    #[test]
    fn a_document_may_be_in_several_sets() {
        // 0 and 1 weigh most and share nothing with each other; 2 is in a list with each of them.
        let lists = SignatureLists::of_documents(&[vec![0, 2], vec![1, 2]], vec![9, 8, 1]).unwrap();
        let sets = signature_sets(&lists, lists.weights(), &[0, 1, 2], &Stop::default()).unwrap();
        let set = |representative, other| Set { representative, documents: vec![representative, other] };
        assert_eq!(sets, [set(0, 2), set(1, 2)]);
    }
}
