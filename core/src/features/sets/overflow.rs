//! Tokens that a full dictionary has no number for.
//!
//! Once the dictionary takes its share of the memory it is frozen: it numbers no further tokens. A
//! token that it does not have is kept with its content, and goes to a file
//! ([`super::token_files`]).
//!
//! A short string or a number is compared whole, a longer string by a hash of 128 bits.

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};

use super::equal_tokens::CountedToken;
use crate::features::dictionary::by_content::of_long;
use crate::features::dictionary::lookup::{ContentKind, Lookup, long_bytes};
use crate::hash;

/// A token of a set that the dictionary has no number for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct OverflowToken {
    /// The content of a short string or a number, or a hash of a long string.
    content: [u64; 2],
    /// The kind of the content in the lowest two bits, and above them a bit that is set if the
    /// token before is equal, in the same document.
    tag: u32,
    /// The number of the set.
    pub(super) set: u32,
}

impl OverflowToken {
    /// Takes a token that was looked up; `long` has the long strings. The number of its set is
    /// given later.
    pub(super) fn new(lookup: &Lookup, long: &[u8]) -> Self {
        let content = match lookup.kind {
            ContentKind::Long => of_long(long_bytes(long, lookup.content)),
            _ => lookup.content,
        };
        Self { content, tag: lookup.kind as u32, set: 0 }
    }

    /// Returns a hash of the token.
    fn hash(&self) -> u64 {
        hash::mix(self.content[0] ^ hash::mix(self.content[1] ^ u64::from(self.tag)))
    }

    /// Returns the kind of the content, and the content.
    pub(super) fn kind_and_content(&self) -> (ContentKind, [u64; 2]) {
        (self.kind(), self.content)
    }

    fn kind(&self) -> ContentKind {
        match self.tag & KIND {
            tag if tag == ContentKind::Short as u32 => ContentKind::Short,
            tag if tag == ContentKind::Long as u32 => ContentKind::Long,
            _ => ContentKind::Number,
        }
    }
}

/// All occurrences of a token have the same hash.
impl CountedToken for OverflowToken {
    #[inline]
    fn sort_key(&self) -> u64 {
        Self { tag: self.tag & KIND, ..*self }.hash()
    }

    #[inline]
    fn compare(&self, other: &Self) -> Ordering {
        (self.content, self.tag & KIND).cmp(&(other.content, other.tag & KIND))
    }

    #[inline]
    fn repeats(&self) -> bool {
        self.tag & REPEATS != 0
    }
}

/// The bits of [`OverflowToken::tag`] that have the kind, and the one for a token that repeats.
const KIND: u32 = 3;
const REPEATS: u32 = 4;

/// Makes the tokens from `from` on, which are those of one document, distinct: repeats are removed
/// or, if they count, become tokens of their own. Gives them the number of their set. Returns the
/// sum of their hashes.
pub(super) fn settle_document(
    tokens: &mut Vec<OverflowToken>,
    from: usize,
    set: u32,
    repeats_count: bool,
) -> u64 {
    let own = &mut tokens[from..];
    own.sort_unstable();
    let (mut kept, mut hashes) = (0, 0u64);
    for n in 0..own.len() {
        let repeats = n > 0 && own[n].compare(&own[n - 1]).is_eq();
        if repeats && !repeats_count {
            continue;
        }
        let tag = own[n].tag | if repeats { REPEATS } else { 0 };
        own[kept] = OverflowToken { tag, set, ..own[n] };
        hashes = hashes.wrapping_add(own[kept].hash());
        kept += 1;
    }
    tokens.truncate(from + kept);
    hashes
}
