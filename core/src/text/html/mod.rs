//! The text of an HTML page (docs/design/algorithms.md section 1, *HTML*).
//!
//! Tags and comments become white space, except tags that change how text looks, such as `b` and
//! `wbr` (formatting directives are removed: Huang et al., TLCS (CIKM 2008), section 3.2). Soft
//! hyphens are dropped. The ends of block elements and `br` become blank lines, so that later steps
//! find the paragraphs. `script`, `style`, `template` and other content that a reader does not see
//! give no text. Entities are decoded. An image gives the URL it points to, as in Henzinger (patent
//! US 8,015,162, section 4.2.3), so pages that differ only in their pictures have different texts.
//!
//! No tree is built, so a million open tags cost nothing. For nested elements, only their depth is
//! counted. One pass, O(bytes).

mod elements;
mod page;
mod reader;

use std::cell::Cell;

use html5gum::Tokenizer;

use crate::error::Result;
use crate::executor::Stop;
pub use page::ImageText;
use page::{PageState, page_host};
use reader::{Halt, Input};

/// Returns the text of a page. `url` is the address of the page; an image on its host gives only
/// its file name.
///
/// No input fails: the result is the text that a browser would show. O(bytes).
///
/// ```
/// use neardup_core::html_text;
///
/// let page = "<title>Port</title><p>Caf&eacute;<br>open<script>x()</script>";
/// assert_eq!(html_text(page, None), "Port\n\nCafé\n\nopen");
/// let image = "<img src='http://a.org/b/quay.jpg'>";
/// assert_eq!(html_text(image, Some("http://a.org/")), "quay.jpg");
/// ```
pub fn html_text(html: &str, url: Option<&str>) -> String {
    let mut text = String::new();
    let done = read_text(html, url, &mut text, &Stop::default());
    debug_assert_eq!(done, Ok(()), "nobody asked to stop");
    text
}

/// Writes the text of a page to `text`, replacing its content.
///
/// Checks `stop` once for every 64 KiB. Fails with [`crate::error::Error::Stopped`] or
/// [`crate::error::Error::OutOfMemory`].
pub fn read_text(html: &str, url: Option<&str>, text: &mut String, stop: &Stop) -> Result<()> {
    read_with_images(html, url, ImageText::Url, text, stop)
}

/// Does the same as [`read_text`], and says what images give.
pub fn read_with_images(
    html: &str,
    url: Option<&str>,
    images: ImageText,
    text: &mut String,
    stop: &Stop,
) -> Result<()> {
    text.clear();
    stop.check()?;
    let values = Cell::new(0);
    let input = Input::new(html, &values, stop);
    let mut page = PageState::new(text, url.and_then(page_host), images, &values, stop);
    let mut tokenizer = Tokenizer::new_with_emitter(input, &mut page);
    loop {
        match tokenizer.next() {
            None => return Ok(()),
            Some(Err(Halt::Return)) => {}
            Some(Ok(error) | Err(Halt::End(error))) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::text::words::words;
    use proptest::prelude::*;

    #[test]
    fn texts_of_pages() {
        let cases = [
            ("", ""),
            ("a", "a"),
            ("  a \n\t b&nbsp;c&#32; ", "a b c"),
            ("a<b>b</b>c", "abc"),
            (
                "<b>N</b>eardup un<wbr>believable H<SUB class=x>2</SUB>O <i>a</i> <em>b</em>",
                "Neardup unbelievable H2O a b",
            ),
            ("<p>un&shy;believ\u{ad}able &shy; a</p>\u{ad}<p>b", "unbelievable a\n\nb"),
            ("<span>a<font>b</font></span><a href=x>c</a><a>d</a>e<x-tag>f</x-tag>g", "ab c d e f g"),
            ("<b>a<p>b</b>c<br></b>d", "a\n\nbc\n\nd"),
            ("x<img src=y>z<q>a</q>b<b/>c", "x y z a bc"),
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
            ("中<b>文</b>　字", "中文 字"),
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
        let mut term = String::new();
        let source = "a<img src='//cdn.example.org/a&amp;b-é.GIF?7'> <img src=/b/c-d.png>b<img src='/?'>";
        read_with_images(source, page, ImageText::Term, &mut term, &Stop::default()).unwrap();
        assert_eq!(term, "a cdnexampleorgabéGIF7 cdpng b");
        assert_eq!(words(&term), ["a", "cdnexampleorgabégif7", "cdpng", "b"]);
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
        for attribute in
            ["b=c ", "b='c' ", "b=\"c\" ", "b=\"c\"", "b=\"&amp;\"\n", "b ", "=\"c\" ", "b\r\n=\r\n\"c\"\r\n"]
        {
            let page =
                format!("<img {} src=a>b<p \"x\" {}>c", attribute.repeat(many), attribute.repeat(many));
            assert_eq!(html_text(&page, None), "a b\n\nc", "{attribute}");
        }
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

    /// Nothing is lost where the tokenizer returns.
    #[test]
    fn many_attributes_are_read_as_few() {
        for before in 0..400 {
            for attribute in ["b=\"c\" ", "longer = \"c\"\r\n", "x", "=\"\" "] {
                let page = format!("<img {} src=\"a&amp;b.png\" src=c>d", attribute.repeat(before));
                assert_eq!(html_text(&page, None), "a&b.png d", "{before} {attribute}");
            }
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
        fn text_without_markup_keeps_its_words(text in "[^<&\0\u{ad}]{0,60}") {
            prop_assert_eq!(words(&html_text(&text, None)), words(&text));
        }
    }
}
