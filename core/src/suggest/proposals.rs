//! Pairs to be labelled: some of each stratum of similarity, most near the threshold that is
//! suggested without labels.
//!
//! Every pair of rows has a key from its hash, and the pairs with the least keys of each stratum
//! are chosen: a random sample that depends on the hashes alone. Groups of equal rows stand for
//! many pairs; of these, the least keys are drawn one after the other, by exponential steps
//! (Efraimidis and Spirakis, *Weighted random sampling with a reservoir*, 2006). More wanted pairs
//! are the same pairs and further ones. O(pairs · log of the wanted ones).

use std::collections::{BinaryHeap, HashSet};

use super::answers::Strata;
use super::curve::{BINS, bin, similarity_of};
use crate::error::Result;
use crate::hash::mix;
use crate::joins::pairs::Pair;
use crate::memory;

const DOING: &str = "choosing pairs to label";

/// A pair to be labelled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proposal {
    /// The first rows of the two groups of equal rows to which the pair belongs, and their
    /// similarity. Both are the same for a pair of one group.
    pub of: Pair,
    /// Which of the pairs of rows of the two groups it is, from 0.
    pub number: u64,
    /// The least similarity of the stratum.
    pub stratum: f64,
    /// The number of pairs of the stratum for each that is proposed.
    pub weight: f64,
}

/// A pair that may be proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pick {
    /// The bits of a number above 0, which are in the order of these numbers.
    key: u64,
    hash: u64,
    number: u64,
    rows: [u32; 2],
    similarity: u64,
}

/// The pairs with the least keys of each stratum.
#[derive(Debug)]
pub struct Proposals {
    wanted: usize,
    picks: Vec<BinaryHeap<Pick>>,
}

impl Proposals {
    /// The number of pairs that can be wanted.
    pub const MOST: usize = 10_000;

    /// Starts to choose so many pairs.
    pub fn new(wanted: usize) -> Self {
        let wanted = wanted.min(Self::MOST);
        Self { wanted, picks: (0..=BINS).map(|_| BinaryHeap::new()).collect() }
    }

    /// Offers the pairs of two groups of equal rows, which stand for `rows` pairs. `hashes` are
    /// those of the two groups, in any order.
    pub fn offer(&mut self, of: Pair, rows: u64, hashes: [u64; 2]) -> Result<()> {
        let picks = &mut self.picks[bin(of.similarity)];
        let hash = mix(hashes[0].min(hashes[1]) ^ mix(hashes[0].max(hashes[1])));
        let (mut key, mut random) = (0.0, hash);
        let (start, step) = (random % rows.max(1), step(mix(hash ^ 1), rows));
        for number in 0..rows.min(self.wanted as u64) {
            // The distance of the least keys of several: exponential, by how many are left.
            key += -uniform(random).ln() / (rows - number) as f64;
            let pick = Pick {
                key: f64::to_bits(key),
                hash,
                number: place(start, step, number, rows),
                rows: [of.left, of.right],
                similarity: of.similarity.to_bits(),
            };
            if picks.len() == self.wanted {
                if picks.peek().is_none_or(|last| *last <= pick) {
                    break;
                }
                picks.pop();
            } else {
                memory::attempt(DOING, || picks.try_reserve(1))?;
            }
            picks.push(pick);
            random = mix(random.wrapping_add(number + 1));
        }
        Ok(())
    }

    /// Chooses the pairs, the least similar stratum first. `pairs` says how many there are in each
    /// stratum, `boundary` which threshold is suggested without labels.
    pub fn choose(self, pairs: &Strata, boundary: f64) -> Result<Vec<Proposal>> {
        let mut strata: Vec<Vec<Pick>> = self.picks.into_iter().map(BinaryHeap::into_sorted_vec).collect();
        for picks in &mut strata {
            // A pair that was offered from both of its sides.
            let mut seen = HashSet::new();
            memory::attempt(DOING, || seen.try_reserve(picks.len()))?;
            picks.retain(|pick| seen.insert((pick.hash, pick.number)));
        }
        let found: Vec<usize> = strata.iter().map(Vec::len).collect();
        let seats = seats(&found, pairs, boundary, self.wanted);
        let chosen = strata.iter().zip(seats).zip(0..).flat_map(|((picks, seats), n)| {
            let weight = pairs[n].max(seats as u64) as f64 / seats.max(1) as f64;
            picks[..seats].iter().map(move |pick| Proposal {
                of: Pair {
                    left: pick.rows[0],
                    right: pick.rows[1],
                    similarity: f64::from_bits(pick.similarity),
                },
                number: pick.number,
                stratum: similarity_of(n),
                weight,
            })
        });
        memory::collect(chosen, DOING)
    }
}

/// Returns how many pairs of each stratum are wanted: a few of each, and the others by the square
/// root of its pairs and its distance from the boundary. Of more wanted pairs, each stratum has at
/// least as many (a method of highest averages).
fn seats(found: &[usize], pairs: &Strata, boundary: f64, wanted: usize) -> Vec<usize> {
    const FEW: usize = 3;
    /// The distance from the boundary at which a stratum counts less by a factor of the square root
    /// of e, and the least factor.
    const SPREAD: f64 = 0.15;
    const LEAST: f64 = 0.2;
    let score: Vec<f64> = (0..=BINS)
        .map(|n| {
            let away = (similarity_of(n) + 0.025 - boundary) / SPREAD;
            (pairs[n] as f64).sqrt() * (-away * away / 2.0).exp().max(LEAST)
        })
        .collect();
    let mut seats = vec![0usize; BINS + 1];
    for _ in 0..wanted {
        let open = (0..=BINS).filter(|&n| seats[n] < found[n]);
        let first = |n: &usize| (seats[*n] < FEW).then(|| FEW - seats[*n]);
        let Some(next) = open.max_by(|a, b| {
            let average = |n: usize| score[n] / (seats[n] + 1) as f64;
            first(a).cmp(&first(b)).then(average(*a).total_cmp(&average(*b)))
        }) else {
            break;
        };
        seats[next] += 1;
    }
    seats
}

/// Returns a number above 0 and at most 1.
fn uniform(random: u64) -> f64 {
    ((random >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Returns a step that visits all of so many places before it repeats one.
fn step(random: u64, places: u64) -> u64 {
    let mut step = 1 + random % places.max(1);
    while greatest_common_divisor(step, places) != 1 {
        step += 1;
    }
    step
}

fn place(start: u64, step: u64, number: u64, places: u64) -> u64 {
    let place = u128::from(start) + u128::from(step) * u128::from(number);
    (place % u128::from(places.max(1))) as u64
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Returns the rows of a pair by its number: of two groups of different rows, or of one group.
pub fn rows_of<'a>(left: &'a [u32], right: Option<&'a [u32]>, number: u64) -> [u32; 2] {
    let Some(right) = right else {
        // The pairs of one group, by the greater place: (0, 1), (0, 2), (1, 2), (0, 3), …
        let mut greater = ((2.0 * number as f64 + 0.25).sqrt() + 0.5) as u64;
        while greater * (greater - 1) / 2 > number {
            greater -= 1;
        }
        while greater * (greater + 1) / 2 <= number {
            greater += 1;
        }
        let lesser = number - greater * (greater - 1) / 2;
        return [left[lesser as usize], left[greater as usize]];
    };
    let width = right.len() as u64;
    [left[(number / width) as usize], right[(number % width) as usize]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(left: u32, right: u32, similarity: f64) -> Pair {
        Pair { left, right, similarity }
    }

    fn offered(wanted: usize, pairs: &[Pair]) -> (Proposals, Strata) {
        let (mut proposals, mut strata) = (Proposals::new(wanted), [0; BINS + 1]);
        for pair in pairs {
            proposals.offer(*pair, 1, [pair.left, pair.right].map(|row| mix(row.into()))).unwrap();
            strata[bin(pair.similarity)] += 1;
        }
        (proposals, strata)
    }

    proptest! {
        #[test]
        fn a_larger_sample_has_the_smaller_one(
            similarities in prop::collection::vec(6u32..=20, 0..300),
            few in 0usize..40,
            more in 0usize..40,
        ) {
            let pairs: Vec<Pair> = (0..).zip(&similarities)
                .map(|(n, &of)| pair(2 * n, 2 * n + 1, f64::from(of) / 20.0)).collect();
            let backwards: Vec<Pair> = pairs.iter().rev().copied().collect();
            let chosen = |wanted: usize, pairs: &[Pair]| {
                let (proposals, strata) = offered(wanted, pairs);
                proposals.choose(&strata, 0.5).unwrap()
            };
            let of = |proposals: &[Proposal]| proposals.iter().map(|p| p.of.left).collect::<HashSet<_>>();
            let (small, large) = (chosen(few, &pairs), chosen(few + more, &pairs));
            prop_assert_eq!(small.len(), few.min(pairs.len()));
            prop_assert!(of(&small).is_subset(&of(&large)));
            prop_assert_eq!(small, chosen(few, &backwards));
        }

        #[test]
        fn numbers_are_those_of_all_pairs(left in 1u32..9, right in 1u32..9) {
            let (a, b): (Vec<u32>, Vec<u32>) = ((0..left).collect(), (left..left + right).collect());
            let of = |number: u64| rows_of(&a, Some(&b), number);
            let all: HashSet<[u32; 2]> = (0..u64::from(left * right)).map(of).collect();
            prop_assert_eq!(all.len() as u32, left * right);
            let pairs = u64::from(left * (left - 1) / 2);
            let all: HashSet<[u32; 2]> = (0..pairs).map(|number| rows_of(&a, None, number)).collect();
            prop_assert!(all.len() as u64 == pairs && all.iter().all(|[a, b]| a < b));
        }
    }

    #[test]
    fn a_group_gives_different_pairs() {
        let mut proposals = Proposals::new(50);
        proposals.offer(pair(1, 1, 1.0), 60, [7, 7]).unwrap();
        proposals.offer(pair(2, 3, 0.5), 1 << 40, [5, 9]).unwrap();
        let mut strata = [0; BINS + 1];
        (strata[BINS], strata[10]) = (60, 1 << 40);
        let chosen = proposals.choose(&strata, 0.5).unwrap();
        assert_eq!(chosen.len(), 50);
        let numbers: HashSet<(u32, u64)> = chosen.iter().map(|p| (p.of.left, p.number)).collect();
        assert_eq!(numbers.len(), 50);
        assert!(chosen.iter().any(|proposal| proposal.stratum == 1.0 && proposal.number < 60));
    }

    #[test]
    fn every_stratum_has_some_and_the_boundary_most() {
        let mut pairs = [0; BINS + 1];
        pairs[6..].fill(1000);
        let seats = seats(&[100; BINS + 1], &pairs, 0.5, 100);
        assert!(seats[6..].iter().all(|&seats| seats >= 3), "{seats:?}");
        assert!(seats[9] + seats[10] > 3 * (seats[18] + seats[19]), "{seats:?}");
        // Nothing is proposed of a stratum without pairs.
        assert_eq!(super::seats(&[0; BINS + 1], &[0; BINS + 1], 0.5, 10), [0; BINS + 1]);
    }

    #[test]
    fn keys_of_a_group_are_as_small_as_those_of_single_pairs() {
        // A group of 1,000 pairs and 1,000 single ones: about half of the least keys are of each.
        let mut proposals = Proposals::new(400);
        proposals.offer(pair(0, 0, 0.5), 1000, [3, 3]).unwrap();
        for n in 1..=1000u32 {
            proposals.offer(pair(n, n + 5000, 0.5), 1, [mix(n.into()), mix(u64::from(n) + 5000)]).unwrap();
        }
        let mut strata = [0; BINS + 1];
        strata[10] = 2000;
        let of_group =
            proposals.choose(&strata, 0.5).unwrap().iter().filter(|proposal| proposal.of.left == 0).count();
        assert!((160..240).contains(&of_group), "{of_group}");
    }
}
