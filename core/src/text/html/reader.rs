//! A page in memory, which the tokenizer reads in pieces so that the reading can be stopped.

use std::cell::Cell;

use html5gum::Reader;

use super::page::CHECK_EVERY;
use crate::error::Error;
use crate::executor::Stop;

/// The reason why the tokenizer gets no input.
#[derive(Debug, thiserror::Error)]
pub(super) enum Halt {
    /// The tokenizer must return and is then called again.
    #[error("called again")]
    Return,
    /// The page is not read any further.
    #[error(transparent)]
    End(#[from] Error),
}

type ReadResult<T> = std::result::Result<T, Halt>;

/// The page as input of the tokenizer.
pub(super) struct Input<'a> {
    rest: &'a [u8],
    /// The number of bytes read since the last check of `stop`.
    since: usize,
    stop: &'a Stop,
    /// The number of attribute values since the tokenizer last returned. The states of the
    /// tokenizer call each other from one quoted attribute to the next (html5gum 0.9), so a tag
    /// with many attributes would overflow the stack.
    values: &'a Cell<u32>,
}

impl<'a> Input<'a> {
    /// Makes the input from the start of a page. The caller counts in `values` the attribute values
    /// that it receives.
    pub(super) fn new(html: &'a str, values: &'a Cell<u32>, stop: &'a Stop) -> Self {
        Self { rest: html.as_bytes(), since: 0, stop, values }
    }

    #[inline]
    fn count(&mut self, bytes: usize) -> ReadResult<()> {
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
    fn read_byte(&mut self) -> ReadResult<Option<u8>> {
        let Some((&byte, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        self.count(1)?;
        Ok(Some(byte))
    }

    fn try_read_string(&mut self, wanted: &[u8], case_sensitive: bool) -> ReadResult<bool> {
        let Some((start, rest)) = self.rest.split_at_checked(wanted.len()) else { return Ok(false) };
        let found = start == wanted || (!case_sensitive && start.eq_ignore_ascii_case(wanted));
        if found {
            self.rest = rest;
        }
        Ok(found)
    }

    #[inline]
    fn read_until<'b>(&'b mut self, needle: &[u8], _: &'b mut [u8; 4]) -> ReadResult<Option<&'b [u8]>> {
        const MOST_VALUES: u32 = 64;
        if self.values.get() > MOST_VALUES {
            self.values.set(0);
            // At the start of a value, the tokenizer's state is complete, so nothing is lost.
            return Err(Halt::Return);
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let window = &self.rest[..self.rest.len().min(CHECK_EVERY)];
        // If the first byte is a needle, it is returned alone.
        let end = window.iter().position(|byte| needle.contains(byte)).unwrap_or(window.len()).max(1);
        let (chunk, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.count(end)?;
        Ok(Some(chunk))
    }
}
