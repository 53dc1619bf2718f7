//! The text of an HTML page (algorithms.md section 1, *HTML*).
//!
//! Every tag and comment is white space; the ends of block elements and `br` are blank lines, so that
//! what reads text afterwards finds paragraphs. `script`, `style`, `template` and what else a reader does not see
//! give nothing. Entities are decoded. An image gives the URL it points to, as Henzinger does
//! (henzinger-combined-techniques.txt, section 4.2.3): pages that differ in their pictures alone differ.
//!
//! No tree is built, so that a million open tags cost nothing; where elements nest, depths are counted. One
//! pass, O(bytes).
//!
//! ```
//! let page = "<title>Port</title><p>Caf&eacute;<br>open<script>x()</script> <img src='/a/quay.jpg'>";
//! assert_eq!(neardup::text::html::html_text(page, None), "Port\n\nCafé\n\nopen quay.jpg");
//! ```

use html5gum::{Emitter, Reader, State, Tokenizer};

use crate::error::{Error, Result};
use crate::memory;
use crate::workers::Stop;

const DOING: &str = "reading an HTML page";

/// How many bytes are read between looks at [`Stop`].
const CHECK_EVERY: usize = 1 << 16;

/// The text of a page. `url` is where the page is; images on its host give their file name alone.
pub fn html_text(html: &str, url: Option<&str>) -> String {
    let mut text = String::new();
    let done = read_text(html, url, &mut text, &Stop::default());
    debug_assert_eq!(done, Ok(()), "nobody asked to stop");
    text
}

/// Puts the text of a page into `text`, in place of what was there.
///
/// Answers to `stop` once in 64 KiB. Errors: [`Error::Stopped`], [`Error::OutOfMemory`].
pub fn read_text(html: &str, url: Option<&str>, text: &mut String, stop: &Stop) -> Result<()> {
    text.clear();
    stop.check()?;
    let input = Input { rest: html.as_bytes(), since: 0, stop };
    let mut page = Page::new(text, url.and_then(page_host), stop);
    match Tokenizer::new_with_emitter(input, &mut page).next() {
        None => Ok(()),
        Some(Ok(error) | Err(error)) => Err(error),
    }
}

/// The page as the tokenizer reads it.
struct Input<'a> {
    rest: &'a [u8],
    /// Bytes read since the last look at `stop`.
    since: usize,
    stop: &'a Stop,
}

impl Input<'_> {
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

/// What stands between the text so far and what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

/// A name in lower case, of which only so many bytes are kept as any name that matters has.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Name {
    bytes: [u8; Name::LONGEST],
    length: usize,
}

impl Name {
    const LONGEST: usize = 16;

    fn push(&mut self, more: &[u8]) {
        for &byte in more {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte.to_ascii_lowercase();
            }
            self.length = self.length.saturating_add(1);
        }
    }

    fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The tag that is being read.
#[derive(Debug, Default)]
struct Tag {
    name: Name,
    end: bool,
    self_closing: bool,
    attribute: Name,
    /// How many `src` attributes there were: only the first counts.
    sources: usize,
    source: Vec<u8>,
}

/// What is known of the page at the present place.
struct Page<'a> {
    text: &'a mut String,
    host: Option<&'a str>,
    stop: &'a Stop,
    /// Characters since the last tag.
    run: Vec<u8>,
    gap: Gap,
    tag: Tag,
    last_start: Name,
    /// Whether the characters up to the next tag are no text: those of a script.
    skip: bool,
    /// The depths of open elements of a kind.
    templates: u64,
    preformatted: u64,
    /// Of `svg` and `math`, whose `style` and `title` are elements as any others.
    foreign: u64,
    /// The element of such content that hides its text.
    hidden: Option<Name>,
    failed: Option<Error>,
}

impl<'a> Page<'a> {
    fn new(text: &'a mut String, host: Option<&'a str>, stop: &'a Stop) -> Self {
        Self {
            text,
            host,
            stop,
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

    fn is_shown(&self) -> bool {
        !self.skip && self.templates == 0 && self.hidden.is_none()
    }

    fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Keeps an error, to be given by [`Emitter::pop_token`].
    fn check(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }

    /// Adds the characters since the last tag to the text.
    fn end_run(&mut self) {
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
        self.text.try_reserve(characters.len() + 2).map_err(|_| Error::OutOfMemory { doing: DOING })?;
        let mut next_check = CHECK_EVERY;
        for (at, c) in characters.char_indices() {
            if at >= next_check {
                self.stop.check()?;
                next_check = at + CHECK_EVERY;
            }
            if c == '\n' && self.preformatted > 0 {
                self.gap = if self.gap >= Gap::Line { Gap::Paragraph } else { Gap::Line };
            } else if c.is_whitespace() {
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

    fn start_tag(&mut self) -> Option<State> {
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

    fn end_tag(&mut self) {
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
        let source = source.trim();
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

/// Elements before and behind which a paragraph ends. Cells of tables too: layouts are made of them.
fn ends_paragraph(name: &[u8]) -> bool {
    matches!(
        name,
        b"address"
            | b"article"
            | b"aside"
            | b"blockquote"
            | b"body"
            | b"br"
            | b"caption"
            | b"center"
            | b"dd"
            | b"details"
            | b"dialog"
            | b"dir"
            | b"div"
            | b"dl"
            | b"dt"
            | b"fieldset"
            | b"figcaption"
            | b"figure"
            | b"footer"
            | b"form"
            | b"frameset"
            | b"h1"
            | b"h2"
            | b"h3"
            | b"h4"
            | b"h5"
            | b"h6"
            | b"head"
            | b"header"
            | b"hgroup"
            | b"hr"
            | b"html"
            | b"legend"
            | b"li"
            | b"listing"
            | b"main"
            | b"menu"
            | b"nav"
            | b"ol"
            | b"optgroup"
            | b"option"
            | b"p"
            | b"plaintext"
            | b"pre"
            | b"search"
            | b"section"
            | b"select"
            | b"summary"
            | b"table"
            | b"tbody"
            | b"td"
            | b"textarea"
            | b"tfoot"
            | b"th"
            | b"thead"
            | b"title"
            | b"tr"
            | b"ul"
            | b"xmp"
    )
}

/// Whether a URL begins with a scheme.
fn has_scheme(url: &str) -> bool {
    let Some((scheme, _)) = url.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// The host of a URL, with a port that is not the usual one; none of a relative URL.
fn host(url: &str) -> Option<&str> {
    let rest = match url.strip_prefix("//") {
        Some(rest) => rest,
        None if has_scheme(url) => url.split_once(':')?.1.strip_prefix("//")?,
        None => return None,
    };
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.strip_suffix(":80").or_else(|| host.strip_suffix(":443")).unwrap_or(host))
}

/// The host of the page, whose URL may be given without a scheme.
fn page_host(url: &str) -> Option<&str> {
    let url = url.trim();
    host(url).or_else(|| url.split(['/', '?', '#']).next()).filter(|host| !host.is_empty())
}

fn same_host(a: &str, b: &str) -> bool {
    a.trim_end_matches('.').eq_ignore_ascii_case(b.trim_end_matches('.'))
}

impl Emitter for &mut Page<'_> {
    /// Only what ends the reading is given.
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
        self.widen(Gap::Space);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::words;
    use proptest::prelude::*;

    #[test]
    fn texts_of_pages() {
        let cases = [
            ("", ""),
            ("a", "a"),
            ("  a \n\t b&nbsp;c&#32; ", "a b c"),
            ("a<b>b</b>c", "a b c"),
            ("a<!-- x -- > y -->b<!--", "a b"),
            ("<p>a<p>b<br>c<br/>d</p><div>e<div>f</div></div>g", "a\n\nb\n\nc\n\nd\n\ne\n\nf\n\ng"),
            ("<SCRIPT>if (a < b) '</p>'</SCRIPT >x<style>y</style>z", "x z"),
            ("<script><!-- <script> </script> --> </script>a", "a"),
            ("a<script>never closed <p>b", "a"),
            ("<noscript><p>on</p></noscript>a<iframe>b</iframe>", "a"),
            ("<title>a &amp; <b></title>b", "a & <b>\n\nb"),
            (
                "&lt;b&gt; &eacute;&notit; &#x4E2D;&#0; &copy &unknown; &",
                "<b> é¬it; 中\u{fffd} © &unknown; &",
            ),
            ("<pre>a\n  b\n\nc</pre>d\ne", "a\nb\n\nc\n\nd e"),
            ("a<template><p>b<template>c</template>d</template>e</template>f", "a e f"),
            ("<svg><style>a</style><title>b</title><![CDATA[<c>]]></svg><style>d</style>e", "b\n\n<c> e"),
            ("<svg><style>a<p>b", "b"),
            ("<svg/>a<style>b</style>", "a"),
            ("<![CDATA[a]]>b", "b"),
            ("<a href=\"x>y\" title='<b>'>c</a", "c"),
            ("a < b and c <3 </ d <", "a < b and c <3 "),
            ("<td>a</td><td>b", "a\n\nb"),
            ("<plaintext>a</plaintext><b>", "a</plaintext><b>"),
            ("中<b>文</b>　字", "中 文 字"),
        ];
        for (html, expected) in cases {
            assert_eq!(html_text(html, None), expected.trim_end(), "{html}");
        }
    }

    #[test]
    fn images_give_words() {
        let page = Some("https://www.Example.org:443/x/page.html?q#f");
        let cases = [
            ("quay.jpg", "quay.jpg"),
            ("/img/2024/quay.jpg?w=100/2#x", "quay.jpg"),
            ("http://www.example.org/img/quay.jpg", "quay.jpg"),
            ("//WWW.example.org./img/quay.jpg", "quay.jpg"),
            ("https://cdn.example.org/img/quay.jpg?w=1", "https://cdn.example.org/img/quay.jpg?w=1"),
            ("//cdn.example.org/a&amp;b.gif", "//cdn.example.org/a&b.gif"),
            ("https://user@www.example.org/quay.jpg", "quay.jpg"),
            ("data:image/png;base64,AAAA", ""),
            (" DATA:x", ""),
            ("cid:part1@mail", "cid:part1@mail"),
            ("/img/", ""),
            ("", ""),
        ];
        for (source, expected) in cases {
            assert_eq!(html_text(&format!("<IMG alt=x SRC='{source}' src=b>"), page), expected, "{source}");
        }
        let absolute = "<img src=http://a.example/b/c.png>";
        assert_eq!(html_text(absolute, None), "http://a.example/b/c.png");
        assert_eq!(html_text(absolute, Some("a.example/x")), "c.png");
        assert_eq!(html_text("a<img>b<script src=c></script><p src=d>", page), "a b");
        let link = html_text("<a href='http://not.shown/'>see http://a.example/b.c</a>", None);
        assert_eq!(words(&link), ["see", "http", "a", "example", "b", "c"]);
    }

    #[test]
    fn hostile_pages_end() {
        let many = 1_000_000;
        assert_eq!(html_text(&"<div>".repeat(many), None), "");
        assert_eq!(html_text(&format!("{}a{}", "<b><svg>".repeat(many), "</i>".repeat(many)), None), "a");
        assert_eq!(html_text(&"<template>".repeat(many), None), "");
        assert_eq!(html_text(&format!("<img {} src=a>", "b=c ".repeat(many)), None), "a");
        assert_eq!(html_text(&format!("<{}>x", "a".repeat(many)), None), "x");
        assert_eq!(html_text(&"<".repeat(many), None).len(), many);
        assert_eq!(html_text(&"&".repeat(many), None).len(), many);
        assert_eq!(html_text(&"<!--".repeat(many), None), "");
        let stop = Stop::default();
        stop.request();
        for page in ["x".repeat(1 << 20), "<!-- ".repeat(1 << 18), "</".repeat(1 << 19)] {
            assert_eq!(read_text(&page, None, &mut String::new(), &stop), Err(Error::Stopped));
        }
    }

    proptest! {
        #[test]
        fn any_page_gives_trimmed_text(
            html in "(<|>|/|!|-|&|;|script|style|svg|pre|template|title|img src=|p|\"|'| |\n|x|字|\\PC){0,40}",
        ) {
            let text = html_text(&html, None);
            prop_assert_eq!(text.trim(), &text);
            prop_assert!(!text.contains("\n\n\n") && !text.contains("  "));
        }

        #[test]
        fn text_without_markup_keeps_its_words(text in "[^<&\0]{0,60}") {
            prop_assert_eq!(words(&html_text(&text, None)), words(&text));
        }
    }
}
