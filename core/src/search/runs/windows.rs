//! The windows of a query's text, and filters by which most other windows are known to differ from
//! all of them.

use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::contents::Contents;
use crate::features::runs::tokens::Rolling;
use crate::memory;

const DOING: &str = "comparing the runs of texts";
/// The number of windows after which a request to stop is looked for.
const CHECK_EVERY: usize = 1 << 14;

/// The windows of a text.
#[derive(Debug)]
pub(super) struct TextWindows {
    /// The number of tokens of a window.
    pub(super) length: usize,
    /// The tokens of the text.
    tokens: Vec<u64>,
    /// The hashes of the different windows, in ascending order, each with the number of its first
    /// token. Windows of the same hash are different.
    firsts: Vec<(u64, u32)>,
    /// The hashes of windows.
    hashes: HashBits,
    /// The hashes of two tokens beside each other.
    pairs: HashBits,
}

impl TextWindows {
    /// Lists the windows of a text. O(tokens · log tokens).
    pub(super) fn new(tokens: Vec<u64>, length: usize, stop: &Stop) -> Result<Self> {
        let (hashes, pairs) = (HashBits::default(), HashBits::default());
        let mut windows = Self { length, tokens, firsts: Vec::new(), hashes, pairs };
        if windows.tokens.len() >= length {
            windows.list(stop)?;
        }
        Ok(windows)
    }

    fn list(&mut self, stop: &Stop) -> Result<()> {
        let mut contents = Contents::new(self.length);
        contents.set(&self.tokens, stop)?;
        let mut firsts: Vec<(u128, u32)> = Vec::new();
        memory::reserve(&mut firsts, contents.windows(), DOING)?;
        for first in 0..contents.windows() {
            stop.check_every(first, CHECK_EVERY)?;
            firsts.push((contents.content(first), first as u32));
        }
        drop(contents);
        firsts.sort_unstable();
        firsts.dedup_by_key(|(content, _)| *content);
        firsts.sort_unstable_by_key(|&(_, first)| first);
        memory::reserve(&mut self.firsts, firsts.len(), DOING)?;
        let mut rolling = Rolling::new(self.length);
        let mut wanted = firsts.iter().map(|&(_, first)| first).peekable();
        self.pairs = HashBits::new(self.tokens.len())?;
        for n in 0..self.tokens.len() {
            stop.check_every(n, CHECK_EVERY)?;
            let hash = rolling.roll(&self.tokens[..=n]);
            if let Some(first) = wanted.next_if(|&first| first as usize + self.length == n + 1) {
                self.firsts.push((hash, first));
            }
            if n > 0 {
                self.pairs.set(pair(self.tokens[n - 1], self.tokens[n]));
            }
        }
        self.firsts.sort_unstable();
        self.hashes = HashBits::new(self.firsts.len())?;
        self.firsts.iter().for_each(|&(hash, _)| self.hashes.set(hash));
        Ok(())
    }

    /// Reports whether there is no window.
    pub(super) fn is_empty(&self) -> bool {
        self.firsts.is_empty()
    }

    /// Reports whether a window may have these two tokens beside each other.
    #[inline]
    pub(super) fn may_have_pair(&self, left: u64, right: u64) -> bool {
        self.pairs.has(pair(left, right))
    }

    /// Reports whether the last tokens in `tokens` are a window of the text. `hash` is their
    /// rolling hash.
    #[inline]
    pub(super) fn have_last(&self, tokens: &[u64], hash: u64, stop: &Stop) -> Result<bool> {
        if !self.hashes.has(hash) || tokens.len() < self.length {
            return Ok(false);
        }
        let window = &tokens[tokens.len() - self.length..];
        let from = self.firsts.partition_point(|&(other, _)| other < hash);
        for &(_, first) in self.firsts[from..].iter().take_while(|&&(other, _)| other == hash) {
            stop.check()?;
            if self.tokens[first as usize..][..self.length] == *window {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the hash of two tokens beside each other.
#[inline]
fn pair(left: u64, right: u64) -> u64 {
    left.rotate_left(32).wrapping_add(right)
}

/// A set of hashes, which may seem to have some more.
#[derive(Debug, Default)]
struct HashBits(Vec<u64>);

impl HashBits {
    /// With 64 bits for each hash, a set seems to have one of about 64 others.
    fn new(hashes: usize) -> Result<Self> {
        memory::filled(0, hashes.next_power_of_two().min(1 << 20), DOING).map(Self)
    }

    fn set(&mut self, hash: u64) {
        let (word, bit) = self.place(hash);
        self.0[word] |= bit;
    }

    #[inline]
    fn has(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Returns the bit of a hash: the number of its word among a power of two, and its place there.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        ((hash >> 6) as usize & self.0.len().wrapping_sub(1), 1 << (hash & 63))
    }
}
