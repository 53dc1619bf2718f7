//! A page in memory, which the tokenizer reads in pieces so that the reading can be stopped.
//! Its parts come back from the tokenizer one by one.

use std::cell::Cell;

use html5gum::{Emitter, Reader, State};

use super::elements::formats;
use super::page::{CHECK_EVERY, DOING, Gap, Name, PageState, Tag};
use crate::error::Error;
use crate::executor::Stop;
use crate::memory;

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

impl Emitter for &mut PageState<'_> {
    /// The only token is an error that ends the reading.
    type Token = Error;

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.last_start = Name::default();
        self.last_start.push(name.unwrap_or_default());
    }

    fn emit_eof(&mut self) {
        self.end_run();
    }

    fn emit_error(&mut self, _: html5gum::Error) {}

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    #[inline]
    fn pop_token(&mut self) -> Option<Error> {
        self.failed.take()
    }

    fn emit_string(&mut self, characters: &[u8]) {
        if self.is_shown() {
            let result = memory::extend(&mut self.run, characters, DOING);
            self.check(result);
        }
    }

    fn init_start_tag(&mut self) {
        let mut source = std::mem::take(&mut self.tag.source);
        source.clear();
        self.tag = Tag { source, ..Tag::default() };
    }

    fn init_end_tag(&mut self) {
        self.init_start_tag();
        self.tag.end = true;
    }

    fn init_comment(&mut self) {}

    fn emit_current_tag(&mut self) -> Option<State> {
        self.end_run();
        self.skip = false;
        if !formats(self.tag.name.get()) {
            self.widen(Gap::Space);
        }
        if self.tag.end {
            self.end_tag();
            return None;
        }
        self.start_tag()
    }

    fn emit_current_comment(&mut self) {
        self.end_run();
        self.widen(Gap::Space);
    }

    fn emit_current_doctype(&mut self) {
        self.end_run();
        self.widen(Gap::Space);
    }

    fn set_self_closing(&mut self) {
        self.tag.self_closing = true;
    }

    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, name: &[u8]) {
        self.tag.name.push(name);
    }

    fn push_comment(&mut self, _: &[u8]) {}

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn init_doctype(&mut self) {}

    fn init_attribute(&mut self) {
        self.tag.attribute = Name::default();
    }

    fn init_attribute_value(&mut self) {
        self.values.set(self.values.get() + 1);
        self.tag.sources += usize::from(self.tag.attribute.get() == b"src");
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        self.tag.attribute.push(name);
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        let Tag { name, attribute, sources, .. } = &self.tag;
        if *sources == 1 && attribute.get() == b"src" && matches!(name.get(), b"img" | b"image") {
            let result = memory::extend(&mut self.tag.source, value, DOING);
            self.check(result);
        }
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.tag.end && self.tag.name == self.last_start
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.foreign > 0
    }
}
