//! Receives the parts of a page from the tokenizer.

use html5gum::{Emitter, State};

use super::elements::formats;
use super::page::{DOING, Gap, Name, PageState, Tag};
use crate::error::Error;
use crate::memory;

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
