//! A page in memory as the tokenizer reads it: piece by piece, so that it can be stopped.

use std::cell::Cell;

use html5gum::Reader;

use super::page::CHECK_EVERY;
use crate::error::Error;
use crate::executor::Stop;

/// Why the tokenizer is not given what it asks for.
#[derive(Debug, thiserror::Error)]
pub(super) enum Halt {
    /// So that it returns from where it is; it is to be called again.
    #[error("called again")]
    Return,
    /// The page is not to be read any further.
    #[error(transparent)]
    End(#[from] Error),
}

type Result<T> = std::result::Result<T, Halt>;

/// The page as the tokenizer reads it.
pub(super) struct Input<'a> {
    rest: &'a [u8],
    /// Bytes read since the last look at `stop`.
    since: usize,
    stop: &'a Stop,
    /// Values of attributes since the tokenizer last returned: its states call each other from one quoted attribute to the
    /// next (html5gum 0.9), so that a tag of many would take more stack than there is.
    values: &'a Cell<u32>,
}

impl<'a> Input<'a> {
    /// A page from its start. The caller counts the values of attributes that it is given.
    pub(super) fn new(html: &'a str, values: &'a Cell<u32>, stop: &'a Stop) -> Self {
        Self { rest: html.as_bytes(), since: 0, stop, values }
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
    type Error = Halt;

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
        const MOST_VALUES: u32 = 64;
        if self.values.get() > MOST_VALUES {
            self.values.set(0);
            // At the start of a value the tokenizer knows where it is: nothing is lost.
            return Err(Halt::Return);
        }
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
