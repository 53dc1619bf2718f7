//! The state of a page at the place that is being read, and the effects of its tags on the text.
//!
//! Images on the page's own host are told from others by the hosts of their URLs.

use std::cell::Cell;

use html5gum::State;

use super::elements::ends_paragraph;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;
use crate::text::characters::{is_alphanumeric, is_space, trim};

/// The purpose of memory, for error messages.
pub(super) const DOING: &str = "reading an HTML page";

/// The number of bytes between checks of [`Stop`].
pub(super) const CHECK_EVERY: usize = 1 << 16;

/// A place where a word may be broken, which is not part of the word.
const SOFT_HYPHEN: char = '\u{ad}';

/// What an image gives to the text of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageText {
    /// Its URL, whose words count like others.
    Url,
    /// The letters and digits of its URL, which are one word, as an image is one term in
    /// Henzinger's patent.
    Term,
}

/// The gap between the text so far and the text that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// No gap.
    None,
    /// A space.
    Space,
    /// A line break.
    Line,
    /// A blank line.
    Paragraph,
}

/// A name in lower case. It stores no more bytes than the longest name that matters.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    bytes: [u8; Name::LONGEST],
    length: usize,
}

impl Name {
    const LONGEST: usize = 16;

    /// Appends bytes to the name.
    pub fn push(&mut self, more: &[u8]) {
        for &byte in more {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte.to_ascii_lowercase();
            }
            self.length = self.length.saturating_add(1);
        }
    }

    /// Returns the name, or nothing if it is longer than any name that matters.
    pub fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The tag that is being read.
#[derive(Debug, Default)]
pub struct Tag {
    /// The name of the tag.
    pub name: Name,
    /// Whether the tag ends an element.
    pub end: bool,
    /// Whether the tag closes itself.
    pub self_closing: bool,
    /// The attribute that is being read.
    pub attribute: Name,
    /// The number of `src` attributes so far; only the first one counts.
    pub sources: usize,
    /// The value of the first `src` attribute.
    pub source: Vec<u8>,
}

/// The state of the page at the current place.
pub struct PageState<'a> {
    text: &'a mut String,
    host: Option<&'a str>,
    images: ImageText,
    stop: &'a Stop,
    /// The number of attribute values that were begun; see [`super::reader::Input`].
    pub values: &'a Cell<u32>,
    /// The characters since the last tag.
    pub run: Vec<u8>,
    gap: Gap,
    /// The tag that is being read.
    pub tag: Tag,
    /// The previous start tag.
    pub last_start: Name,
    /// Whether the characters up to the next tag are not text, as in a script.
    pub skip: bool,
    /// The depth of open `template` elements. `preformatted` is the depth of elements such as
    /// `pre`.
    templates: u64,
    preformatted: u64,
    /// The depth of open `svg` and `math` elements, in which `style` and `title` are elements like
    /// all others.
    pub foreign: u64,
    /// The element in `svg` or `math` that hides its text.
    hidden: Option<Name>,
    /// An error that [`html5gum::Emitter::pop_token`] is to return.
    pub failed: Option<Error>,
}

impl<'a> PageState<'a> {
    /// Begins a page. Images on `host` give their file names.
    pub fn new(
        text: &'a mut String,
        host: Option<&'a str>,
        images: ImageText,
        values: &'a Cell<u32>,
        stop: &'a Stop,
    ) -> Self {
        Self {
            text,
            host,
            images,
            stop,
            values,
            run: Vec::new(),
            gap: Gap::None,
            tag: Tag::default(),
            last_start: Name::default(),
            skip: false,
            templates: 0,
            preformatted: 0,
            foreign: 0,
            hidden: None,
            failed: None,
        }
    }

    /// Reports whether a reader sees the text at the current place.
    pub fn is_shown(&self) -> bool {
        !self.skip && self.templates == 0 && self.hidden.is_none()
    }

    /// Makes the gap at least as wide as `gap`.
    pub fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Keeps an error for [`html5gum::Emitter::pop_token`] to return.
    pub fn check(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }

    /// Appends the characters since the last tag to the text.
    pub fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if self.is_shown() {
            // A run ends at a tag, so it has whole characters. Malformed bytes become U+FFFD.
            let result = self.add(&String::from_utf8_lossy(&run));
            self.check(result);
        }
        self.run = run;
        self.run.clear();
    }

    fn add(&mut self, characters: &str) -> Result<()> {
        // A gap is no longer than the white space that it replaces. Only the first gap can replace
        // a tag instead; it takes at most two bytes.
        memory::reserve_text(self.text, characters.len() + 2, DOING)?;
        let mut next_check = CHECK_EVERY;
        for (at, c) in characters.char_indices() {
            if at >= next_check {
                self.stop.check()?;
                next_check = at + CHECK_EVERY;
            }
            if c == SOFT_HYPHEN {
                continue;
            }
            if c == '\n' && self.preformatted > 0 {
                self.gap = if self.gap >= Gap::Line { Gap::Paragraph } else { Gap::Line };
            } else if is_space(c) {
                self.widen(Gap::Space);
            } else {
                let gap = std::mem::replace(&mut self.gap, Gap::None);
                if !self.text.is_empty() {
                    self.text.push_str(match gap {
                        Gap::None => "",
                        Gap::Space => " ",
                        Gap::Line => "\n",
                        Gap::Paragraph => "\n\n",
                    });
                }
                self.text.push(c);
            }
        }
        Ok(())
    }

    /// Handles the start tag that was read. Returns the tokenizer state for the content that
    /// follows, if it is not markup.
    pub fn start_tag(&mut self) -> Option<State> {
        let Tag { name, self_closing, .. } = self.tag;
        self.last_start = name;
        let in_svg = self.foreign > 0 && name.get() == b"title";
        if ends_paragraph(name.get()) && !in_svg {
            if self.templates == 0 {
                self.widen(Gap::Paragraph);
            }
            // HTML inside an svg or math element ends that element.
            (self.foreign, self.hidden) = (0, None);
        }
        if self.foreign > 0 {
            match name.get() {
                b"svg" | b"math" if !self_closing => self.foreign += 1,
                b"foreignobject" => self.foreign = 0,
                b"script" | b"style" if !self_closing => self.hidden = Some(name),
                _ => {}
            }
            return None;
        }
        match name.get() {
            b"img" | b"image" if self.is_shown() => {
                let source = std::mem::take(&mut self.tag.source);
                let result = self.add_image(&String::from_utf8_lossy(&source));
                self.check(result);
            }
            b"svg" | b"math" if !self_closing => self.foreign = 1,
            b"template" => self.templates += 1,
            b"pre" | b"listing" => self.preformatted += 1,
            b"script" => {
                self.skip = true;
                return Some(State::ScriptData);
            }
            // Styles, and content that browsers show only if scripts or frames are not supported.
            b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframes" => {
                self.skip = true;
                return Some(State::RawText);
            }
            b"xmp" => return Some(State::RawText),
            b"title" | b"textarea" => return Some(State::RcData),
            b"plaintext" => {
                self.preformatted += 1;
                return Some(State::PlainText);
            }
            _ => {}
        }
        None
    }

    /// Handles the end tag that was read.
    pub fn end_tag(&mut self) {
        let name = self.tag.name;
        if ends_paragraph(name.get()) && self.templates == 0 {
            self.widen(Gap::Paragraph);
        }
        if self.hidden == Some(name) {
            self.hidden = None;
        }
        let depth = match name.get() {
            b"svg" | b"math" => &mut self.foreign,
            b"template" => &mut self.templates,
            b"pre" | b"listing" => &mut self.preformatted,
            _ => return,
        };
        *depth = depth.saturating_sub(1);
        if self.foreign == 0 {
            self.hidden = None;
        }
    }

    /// Adds the URL of an image, or its file name if it is on the page's own host.
    fn add_image(&mut self, source: &str) -> Result<()> {
        let source = trim(source);
        let no_place = ["data:", "blob:", "about:", "javascript:"];
        let starts = |with: &&str| source.get(..with.len()).is_some_and(|s| s.eq_ignore_ascii_case(with));
        if no_place.iter().any(starts) {
            return Ok(());
        }
        let own = match host(source) {
            Some(of_image) => self.host.is_some_and(|own| same_host(own, of_image)),
            None => !has_scheme(source),
        };
        let shown = if own {
            let path = source.split(['?', '#']).next().unwrap_or_default();
            path.rsplit('/').next().unwrap_or_default()
        } else {
            source
        };
        match self.images {
            ImageText::Url => self.add(shown)?,
            ImageText::Term => {
                let mut term = memory::copied(shown, DOING)?;
                term.retain(is_alphanumeric);
                self.add(&term)?;
            }
        }
        self.widen(Gap::Space);
        Ok(())
    }
}

/// Reports whether a URL begins with a scheme.
pub(super) fn has_scheme(url: &str) -> bool {
    let Some((scheme, _)) = url.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// Returns the host of a URL, and its port unless that is 80 or 443. Returns `None` for a relative
/// URL.
pub(super) fn host(url: &str) -> Option<&str> {
    let rest = match url.strip_prefix("//") {
        Some(rest) => rest,
        None if has_scheme(url) => url.split_once(':')?.1.strip_prefix("//")?,
        None => return None,
    };
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.strip_suffix(":80").or_else(|| host.strip_suffix(":443")).unwrap_or(host))
}

/// Returns the host of the page, whose URL may be given without a scheme.
pub(super) fn page_host(url: &str) -> Option<&str> {
    let url = trim(url);
    host(url).or_else(|| url.split(['/', '?', '#']).next()).filter(|host| !host.is_empty())
}

/// Reports whether two hosts are the same.
pub(super) fn same_host(a: &str, b: &str) -> bool {
    a.trim_end_matches('.').eq_ignore_ascii_case(b.trim_end_matches('.'))
}
