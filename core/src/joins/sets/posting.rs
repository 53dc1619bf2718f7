//! The posting of a token: a record, the position of the token in the record, and the tokens before
//! the token.

use bytemuck::Zeroable;

use crate::features::sets::records::Records;

/// The posting of a token of a record's prefix: the record, the position of the token, and as many
/// of the tokens before it as there is room for, stored as distances between token numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Zeroable)]
pub struct Posting {
    /// The record.
    pub record: u32,
    /// The position of the token in the upper bits, and the distance to the token before it in the
    /// lower bits.
    place_and_distance: u32,
    /// The distances between the three tokens before the posting's token, the nearest ones first.
    distances: [u16; 2],
}

/// The number of preceding tokens that a posting stores.
const KNOWN_BEFORE: usize = 3;

/// The tokens before a posting's token, as distances from it.
pub type Before = [u32; KNOWN_BEFORE];

impl Posting {
    const DISTANCE_BITS: u32 = 20;
    /// These values mean that a distance or a position is too large to store, or that there is no
    /// token before.
    const FAR: u32 = (1 << Self::DISTANCE_BITS) - 1;
    const FAR_BEHIND: u32 = u32::MAX >> Self::DISTANCE_BITS;

    /// Creates the posting of the token with index `n` in `prefix`, which has the position `place`
    /// in the record.
    #[inline]
    pub fn new(record: u32, prefix: &[u32], n: usize, place: u32) -> Self {
        let distance = |back: usize, most: u32| match n.checked_sub(back) {
            Some(at) => (prefix[at + 1] - prefix[at]).min(most),
            None => most,
        };
        let none = u32::from(u16::MAX);
        Self {
            record,
            place_and_distance: place.min(Self::FAR_BEHIND) << Self::DISTANCE_BITS | distance(1, Self::FAR),
            distances: [distance(2, none) as u16, distance(3, none) as u16],
        }
    }

    /// Returns everything but the record, as one number.
    #[inline]
    pub fn rest(self) -> u64 {
        let [second, third] = self.distances;
        u64::from(self.place_and_distance) << 32 | u64::from(second) << 16 | u64::from(third)
    }

    /// Creates a posting of a record and the number that [`Posting::rest`] returns.
    #[inline]
    pub fn of_rest(record: u32, rest: u64) -> Self {
        let distances = [(rest >> 16) as u16, rest as u16];
        Self { record, place_and_distance: (rest >> 32) as u32, distances }
    }

    /// Returns what the tokens of the record, which has this size, weigh at most from the posting's
    /// token on. The posting's place is a share of the weight.
    #[inline]
    pub fn weight_from(&self, size: u32) -> u32 {
        let before = u64::from(self.place_at_least()) * u64::from(size) / u64::from(Self::FAR_BEHIND);
        // It is at most the size.
        size - before as u32
    }

    /// Returns a number of tokens that the record has before the posting's token; it may have more.
    #[inline]
    pub fn place_at_least(&self) -> u32 {
        self.place_and_distance >> Self::DISTANCE_BITS
    }

    /// Returns the number of tokens of the record before the posting's token, including tokens that
    /// no other record has. `token` is the posting's token.
    #[inline]
    pub fn place(&self, records: &Records, token: u32) -> u32 {
        match self.place_and_distance >> Self::DISTANCE_BITS {
            Self::FAR_BEHIND => far_behind(records, self.record as usize, token),
            place => place,
        }
    }

    /// Returns the distances between the posting's token and the tokens before it; `unknown`
    /// replaces those that are not stored.
    #[inline]
    fn before(&self, unknown: u32) -> Before {
        let mut before = [unknown; KNOWN_BEFORE];
        let first = self.place_and_distance & Self::FAR;
        if first != Self::FAR {
            before[0] = first;
            let [second, third] = self.distances;
            if second != u16::MAX {
                before[1] = first + u32::from(second);
                if third != u16::MAX {
                    before[2] = before[1] + u32::from(third);
                }
            }
        }
        before
    }

    /// Returns the distances between the token of a probe and the tokens before it, for
    /// [`Posting::met_before`].
    #[inline]
    pub fn before_probe(&self) -> Before {
        self.before(u32::MAX)
    }

    /// Reports whether a probe with the same token is known to share one of the tokens before that
    /// token as well. If so, the pair is found at that earlier token.
    #[inline]
    pub fn met_before(&self, probe: &Before) -> bool {
        let own = self.before(u32::MAX - 1);
        own.iter().fold(false, |met, token| probe.iter().fold(met, |met, other| met | (token == other)))
    }
}

/// Returns the weight before a token, for the place of a posting: as a share of the size of its
/// record, rounded down.
pub(super) fn share(before: u32, size: u32) -> u32 {
    let share = u64::from(before) * u64::from(Posting::FAR_BEHIND) / u64::from(size.max(1));
    // It is at most the greatest place.
    share as u32
}

/// Returns the position of a token in its record, for a position that is too large to store in a
/// posting.
#[cold]
fn far_behind(records: &Records, record: usize, token: u32) -> u32 {
    let before = records.tokens(record).partition_point(|&other| other < token);
    records.lone(record) + before as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates ascending numbers, some of them far apart.
    fn ascending() -> impl Strategy<Value = Vec<u32>> {
        let distance = prop_oneof![8 => 1..6u32, 1 => 65_530..65_540u32, 1 => 1_048_570..1_048_580u32];
        prop::collection::vec(distance, 0..30).prop_map(|distances| {
            let mut last = 0;
            distances
                .into_iter()
                .map(|distance| {
                    last += distance;
                    last
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn met_before_is_sure(a in ascending(), b in ascending()) {
            let posting = |prefix: &[u32], n: usize| Posting::new(0, prefix, n, n as u32);
            let near = |prefix: &[u32], n: usize| prefix[n.saturating_sub(KNOWN_BEFORE)..=n].to_vec();
            for (n, token) in a.iter().enumerate() {
                let Some(m) = b.iter().position(|other| other == token) else { continue };
                let (probe, other) = (posting(&a, n), posting(&b, m));
                let (left, right) = (near(&a, n), near(&b, m));
                let shared = left.iter().filter(|token| right.contains(token)).count() > 1;
                let met = other.met_before(&probe.before_probe());
                prop_assert_eq!(met, posting(&a, n).met_before(&posting(&b, m).before_probe()));
                prop_assert!(shared || !met);
                // Close tokens are known.
                let close = |near: &[u32]| near.last().zip(near.first()).is_some_and(|(last, first)| last - first < 65_000);
                prop_assert!(met || !shared || !close(&left) || !close(&right));
            }
        }
    }

    #[test]
    fn places_are_known_however_far_behind() {
        let tokens: Vec<u32> = (0..10_000).map(|n| 3 * n).collect();
        let records = Records::new(tokens.clone(), &[0, tokens.len()], vec![tokens.len() as u32]).unwrap();
        for n in [0, 1, 4_094, 4_095, 4_096, 9_999] {
            assert_eq!(Posting::new(0, &tokens, n, n as u32).place(&records, tokens[n]), n as u32);
        }
    }
}
