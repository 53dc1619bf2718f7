//! A token as it is looked up: its hash and what it is, in 32 bytes.

use crate::error::Result;
use crate::features::tokens::Token;
use crate::hash;
use crate::memory;

const DOING: &str = "numbering tokens";

/// What [`Lookup::content`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ContentKind {
    /// A string of at most 16 bytes, its length ([`short`]).
    Short(u8),
    /// Start and length of a string in an arena.
    Long,
    /// A number.
    #[default]
    Number,
    /// A further occurrence of a token in a document.
    Occurrence,
}

/// The longest string that fits into [`Lookup::content`].
const SHORT: usize = 16;

/// A string of at most 16 bytes as two numbers, which only the same string of its length has: its first and
/// its last bytes. Without a copy of unknown length, which is a call.
#[inline]
fn short(bytes: &[u8]) -> [u64; 2] {
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(&first), Some(&last)) => [u64::from_le_bytes(first), u64::from_le_bytes(last)],
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(&first), Some(&last)) => {
                [u64::from(u32::from_le_bytes(first)) | u64::from(u32::from_le_bytes(last)) << 32, 0]
            }
            _ => match *bytes {
                [] => [0, 0],
                [a, .., z] => [u64::from(a) | u64::from(bytes[bytes.len() / 2]) << 8 | u64::from(z) << 16, 0],
                [a] => [u64::from(a), 0],
            },
        },
    }
}

/// The string that [`short`] was given.
pub(crate) fn short_bytes([first, last]: [u64; 2], length: usize) -> Vec<u8> {
    let (first, last) = match length {
        8.. => (first.to_le_bytes().to_vec(), last.to_le_bytes().to_vec()),
        4..8 => ((first as u32).to_le_bytes().to_vec(), ((first >> 32) as u32).to_le_bytes().to_vec()),
        _ => {
            let [a, middle, z, ..] = first.to_le_bytes();
            return [&[][..], &[a], &[a, z], &[a, middle, z]][length].to_vec();
        }
    };
    // Both may overlap.
    let more = length - first.len();
    [&first, &last[last.len() - more..]].concat()
}

/// A token that is to be numbered, and the document of the batch that has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lookup {
    /// Its hash.
    pub hash: u64,
    pub(crate) content: [u64; 2],
    /// The number of its document in the batch of its collector.
    pub document: u32,
    pub(crate) kind: ContentKind,
}

impl Lookup {
    /// Looks a token up for a document; what does not fit is added to `long`.
    #[inline]
    pub fn new(token: Token<'_>, document: u32, long: &mut Vec<u8>) -> Result<Self> {
        let (hash, kind, content) = match token {
            Token::Number(value) => (hash::mix(value), ContentKind::Number, [value, 0]),
            Token::Bytes(bytes) if bytes.len() <= SHORT => {
                (hash::hash_bytes(bytes), ContentKind::Short(bytes.len() as u8), short(bytes))
            }
            Token::Bytes(bytes) => {
                let content = [long.len() as u64, bytes.len() as u64];
                memory::extend(long, bytes, DOING)?;
                (hash::hash_bytes(bytes), ContentKind::Long, content)
            }
        };
        Ok(Self { hash, content, document, kind })
    }

    /// Whether it is a string that stands in it.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        matches!(self.kind, ContentKind::Short(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_what_their_numbers_say() {
        let bytes: Vec<u8> = (b'a'..=b'z').collect();
        for length in 0..=SHORT {
            let string = &bytes[..length];
            assert_eq!(short_bytes(short(string), length), string);
            // One other byte, wherever it is, makes other numbers.
            for n in 0..length {
                let mut other = string.to_vec();
                other[n] = b'A';
                assert_ne!(short(&other), short(string));
                assert_eq!(short_bytes(short(&other), length), other);
            }
        }
    }
}
