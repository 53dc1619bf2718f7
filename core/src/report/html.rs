//! Text as HTML.

use std::fmt;

/// Text that is shown literally: nothing in it is read as markup.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\0']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                b'\'' => "&#39;",
                _ => "\u{fffd}",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

/// The beginning of a text, up to a number of characters. It is shown literally, with an ellipsis
/// if the text is longer.
#[derive(Debug, Clone, Copy)]
pub struct Beginning<'a>(pub &'a str, pub usize);

impl fmt::Display for Beginning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(self.1) {
            None => write!(f, "{}", Escaped(self.0)),
            Some((end, _)) => write!(f, "{}&#8230;", Escaped(&self.0[..end])),
        }
    }
}

/// The CSS rules of pages and of their parts. The names of CSS classes begin with `nd`, so that a
/// part can be embedded in another page.
///
/// ```
/// let style = format!("<style>{}</style>", neardup_core::html_report::HTML_STYLE);
/// assert!(style.contains(".nd-diff"));
/// ```
pub const STYLE: &str = include_str!("style.css");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_becomes_text() {
        let text = "<script>alert('x')</script> & \"more\"";
        let expected = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;more&quot;";
        assert_eq!(Escaped(text).to_string(), expected);
    }

    #[test]
    fn beginnings_end_with_an_ellipsis() {
        assert_eq!(Beginning("a<b", 3).to_string(), "a&lt;b");
        assert_eq!(Beginning("\u{5929}<b", 2).to_string(), "\u{5929}&lt;&#8230;");
    }

    proptest! {
        #[test]
        fn nothing_is_left_of_markup(text: String) {
            let escaped = Escaped(&text).to_string();
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            let back = escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"")
                .replace("&#39;", "'").replace("&amp;", "&");
            prop_assert_eq!(back, text.replace('\0', "\u{fffd}"));
        }
    }
}
