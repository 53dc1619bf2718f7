//! A link to a document, by a pattern with `{id}` in it.
//!
//! The pattern is the caller's, but the id may come from anyone. So no part of the id may become a
//! scheme, a host or markup: each byte that is not a letter, digit, `-`, `.`, `_` or `~` is
//! percent-encoded (RFC 3986, section 2.3). Only http, https and addresses relative to the page
//! become links.

use super::html::{Beginning, Escaped};
use crate::error::{Error, Result};

/// The placeholder for the id.
const PLACE: &str = "{id}";

/// The greatest length of a pattern, in bytes.
const LONGEST: usize = 2_000;

/// A pattern for links.
///
/// ```
/// use neardup_core::html_report::ReportLink;
///
/// assert_eq!(ReportLink::new("/notes/{id}")?.to("a b"), "/notes/a%20b");
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkPattern(String);

impl LinkPattern {
    /// Checks a pattern.
    ///
    /// A pattern contains `{id}`, and is a relative address or an address of http or https. Fails
    /// for other patterns.
    ///
    /// ```
    /// use neardup_core::html_report::ReportLink;
    ///
    /// assert!(ReportLink::new("https://example.org/?note={id}").is_ok());
    /// assert!(ReportLink::new("javascript:{id}").is_err());
    /// ```
    pub fn new(pattern: &str) -> Result<Self> {
        let wrong = |allowed| {
            let value: String = pattern.chars().take(100).collect();
            Err(Error::Parameter { name: "link", value, allowed })
        };
        if !pattern.contains(PLACE) {
            return wrong("an address with {id} in it");
        }
        // Browsers remove these characters from addresses before they look for a scheme.
        if pattern.chars().any(|c| c.is_control() || c.is_whitespace()) || pattern.len() > LONGEST {
            return wrong("an address without white space, of at most 2,000 bytes");
        }
        let first = pattern.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        match first.split_once(':') {
            Some((scheme, _))
                if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) =>
            {
                wrong("an address of http or https, or a relative one")
            }
            _ => Ok(Self(pattern.to_owned())),
        }
    }

    /// Returns the address of a document.
    ///
    /// No part of the id can change the rest of the address.
    ///
    /// ```
    /// use neardup_core::html_report::ReportLink;
    ///
    /// assert_eq!(ReportLink::new("/{id}/")?.to("../7"), "/..%2F7/");
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn to(&self, id: &str) -> String {
        let mut encoded = String::new();
        for byte in id.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    encoded.push(char::from(byte))
                }
                _ => encoded.push_str(&format!("%{byte:02X}")),
            }
        }
        self.0.replace(PLACE, &encoded)
    }
}

/// Returns an id as HTML, as a link if there is a pattern. The id keeps its own text direction.
/// Only the beginning of a very long id is shown.
pub fn linked(id: &str, link: Option<&LinkPattern>) -> String {
    const SHOWN: usize = 100;
    const LONGEST_ID: usize = 500;
    let shown = Beginning(id, SHOWN);
    match link.filter(|_| id.len() <= LONGEST_ID) {
        None => format!("<bdi>{shown}</bdi>"),
        Some(link) => {
            format!("<a rel=\"noreferrer\" href=\"{}\"><bdi>{shown}</bdi></a>", Escaped(&link.to(id)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_are_encoded() {
        let link = LinkPattern::new("https://example.org/{id}?of={id}&x=1").unwrap();
        assert_eq!(
            link.to("a b/\u{e9}\"<"),
            "https://example.org/a%20b%2F%C3%A9%22%3C?of=a%20b%2F%C3%A9%22%3C&x=1"
        );
        let html = linked("<b>", Some(&link));
        assert_eq!(
            html,
            "<a rel=\"noreferrer\" href=\"https://example.org/%3Cb%3E?of=%3Cb%3E&amp;x=1\"><bdi>&lt;b&gt;</bdi></a>"
        );
    }

    #[test]
    fn only_web_addresses_and_relative_ones_are_links() {
        for good in
            ["/docs/{id}", "{id}.html", "//host/{id}", "HTTPS://h/{id}", "?id={id}", "#{id}", "a/b:{id}"]
        {
            assert!(LinkPattern::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "https://h/",
            "javascript:alert({id})",
            "java\tscript:{id}",
            " javascript:{id}",
            "data:text/html,{id}",
            "{id}:x",
            "JAVASCRIPT:{id}",
            "\u{1}javascript:{id}",
            "file:///{id}",
            "vbscript:{id}",
            "http\u{0}s:{id}",
        ] {
            assert!(LinkPattern::new(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_id_becomes_more_than_a_part(id: String) {
            let to = LinkPattern::new("{id}").unwrap().to(&id);
            prop_assert!(!to.contains([':', '/', '?', '#', '\\', '"', '<', '>', '&', ' ']));
        }
    }
}
