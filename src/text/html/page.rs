//! What is known of a page at the place that is being read, and what its tags do to the text.

use std::cell::Cell;

use html5gum::State;

use super::elements::ends_paragraph;
use super::urls::{has_scheme, host, same_host};
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;
use crate::text::characters::{is_space, trim};

/// What memory is for.
pub(super) const DOING: &str = "reading an HTML page";

/// How many bytes are read between looks at [`Stop`].
pub(super) const CHECK_EVERY: usize = 1 << 16;

/// Where a word may be broken, and no part of it.
const SOFT_HYPHEN: char = '\u{ad}';

/// What stands between the text so far and what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// Nothing.
    None,
    /// A space.
    Space,
    /// The end of a line.
    Line,
    /// A blank line.
    Paragraph,
}

/// A name in lower case, of which only as many bytes are kept as the longest name that matters has.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    bytes: [u8; Name::LONGEST],
    length: usize,
}

impl Name {
    const LONGEST: usize = 16;

    /// Adds to the name.
    pub fn push(&mut self, more: &[u8]) {
        for &byte in more {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte.to_ascii_lowercase();
            }
            self.length = self.length.saturating_add(1);
        }
    }

    /// The name; nothing where it is longer than any that matters.
    pub fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The tag that is being read.
#[derive(Debug, Default)]
pub struct Tag {
    /// What it is called.
    pub name: Name,
    /// Whether it ends an element.
    pub end: bool,
    /// Whether it ends itself.
    pub self_closing: bool,
    /// The attribute that is being read.
    pub attribute: Name,
    /// How many `src` attributes there were: only the first counts.
    pub sources: usize,
    /// The first of them.
    pub source: Vec<u8>,
}

/// What is known of the page at the present place.
pub struct Page<'a> {
    text: &'a mut String,
    host: Option<&'a str>,
    stop: &'a Stop,
    /// Values of attributes that were begun; see [`super::reader::Input`].
    pub values: &'a Cell<u32>,
    /// Characters since the last tag.
    pub run: Vec<u8>,
    gap: Gap,
    /// The tag that is being read.
    pub tag: Tag,
    /// The start tag before.
    pub last_start: Name,
    /// Whether the characters up to the next tag are no text: those of a script.
    pub skip: bool,
    /// The depths of open elements of a kind.
    templates: u64,
    preformatted: u64,
    /// Of `svg` and `math`, whose `style` and `title` are elements as any others.
    pub foreign: u64,
    /// The element of such content that hides its text.
    hidden: Option<Name>,
    /// An error, to be given by [`html5gum::Emitter::pop_token`].
    pub failed: Option<Error>,
}

impl<'a> Page<'a> {
    /// Nothing is read yet. Images on `host` give their file names.
    pub fn new(text: &'a mut String, host: Option<&'a str>, values: &'a Cell<u32>, stop: &'a Stop) -> Self {
        Self {
            text,
            host,
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

    /// Whether a reader sees the text at the present place.
    pub fn is_shown(&self) -> bool {
        !self.skip && self.templates == 0 && self.hidden.is_none()
    }

    /// Lets there be at least this gap.
    pub fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Keeps an error, to be given by [`html5gum::Emitter::pop_token`].
    pub fn check(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }

    /// Adds the characters since the last tag to the text.
    pub fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if self.is_shown() {
            // Whole characters: a run ends at a tag. Whatever is none is made U+FFFD.
            let result = self.add(&String::from_utf8_lossy(&run));
            self.check(result);
        }
        self.run = run;
        self.run.clear();
    }

    fn add(&mut self, characters: &str) -> Result<()> {
        // A gap comes in place of white space or of a tag, of which there is one at most here.
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

    /// Reads the start tag that came; what follows is read so, if not as markup.
    pub fn start_tag(&mut self) -> Option<State> {
        let Tag { name, self_closing, .. } = self.tag;
        self.last_start = name;
        let in_svg = self.foreign > 0 && name.get() == b"title";
        if ends_paragraph(name.get()) && !in_svg {
            if self.templates == 0 {
                self.widen(Gap::Paragraph);
            }
            // HTML inside of an svg or math element ends that.
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
            // Shown only where scripts or frames are not.
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

    /// Reads the end tag that came.
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

    /// Adds what an image says: its URL, or the file name where it is on the page's own host.
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
        if own {
            let path = source.split(['?', '#']).next().unwrap_or_default();
            self.add(path.rsplit('/').next().unwrap_or_default())?;
        } else {
            self.add(source)?;
        }
        self.widen(Gap::Space);
        Ok(())
    }
}
