//! A page in memory as the tokenizer reads it: piece by piece, so that it can be stopped.

use html5gum::Reader;

use super::page::CHECK_EVERY;
use crate::error::{Error, Result};
use crate::workers::Stop;

/// The page as the tokenizer reads it.
pub struct Input<'a> {
    rest: &'a [u8],
    /// Bytes read since the last look at `stop`.
    since: usize,
    stop: &'a Stop,
}

impl<'a> Input<'a> {
    /// A page from its start.
    pub fn new(html: &'a str, stop: &'a Stop) -> Self {
        Self { rest: html.as_bytes(), since: 0, stop }
    }

    #[inline]
    fn count(&mut self, bytes: usize) -> Result<()> {
        self.since += bytes;
        if self.since >= CHECK_EVERY {
            self.since = 0;
            self.stop.check()?;
        }
        Ok(())
    }
}

impl Reader for Input<'_> {
    type Error = Error;

    #[inline]
    fn read_byte(&mut self) -> Result<Option<u8>> {
        let Some((&byte, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        self.count(1)?;
        Ok(Some(byte))
    }

    fn try_read_string(&mut self, wanted: &[u8], case_sensitive: bool) -> Result<bool> {
        let Some((start, rest)) = self.rest.split_at_checked(wanted.len()) else { return Ok(false) };
        let found = start == wanted || (!case_sensitive && start.eq_ignore_ascii_case(wanted));
        if found {
            self.rest = rest;
        }
        Ok(found)
    }

    #[inline]
    fn read_until<'b>(&'b mut self, needle: &[u8], _: &'b mut [u8; 4]) -> Result<Option<&'b [u8]>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let window = &self.rest[..self.rest.len().min(CHECK_EVERY)];
        // A needle that comes first is given alone.
        let end = window.iter().position(|byte| needle.contains(byte)).unwrap_or(window.len()).max(1);
        let (chunk, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.count(end)?;
        Ok(Some(chunk))
    }
}
