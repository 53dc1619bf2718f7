//! Queries for the texts that have a run in common with a given text. All numbers are
//! little-endian.
//!
//! | bytes | |
//! | --- | --- |
//! | 0 | version of this format |
//! | 1 | how texts are cut into tokens ([`Origin`]) |
//! | 2 | the form in which texts are compared ([`Normalization`]), or 0 |
//! | 3 | 0 |
//! | 4 to 7 | the least number of tokens of a run |
//! | from 8 on | the text, in UTF-8 |
//!
//! A query stores the text itself and no hash of it, so what it finds never depends on a version of
//! the hash or of anything else.

use super::cover::QueryAnchors;
use super::signature::AnchorSignatures;
use crate::error::{Error, Result, split_header};
use crate::executor::Stop;
use crate::features::normalization::Normalization;
use crate::features::origin::Origin;
use crate::features::runs::anchors::Anchors;
use crate::features::runs::tokens::read_tokens;
use crate::features::tokens::Scratch;
use crate::memory;
use crate::search::json::{JsonReader, JsonWriter};

/// The name of the type, for error messages.
pub const NAME: &str = "text_runs";
const VERSION: u8 = 1;
/// The number of bytes before the text.
pub const HEADER: usize = 8;
const DOING: &str = "making a query for runs";

/// Checks a least length of a run from a user.
pub fn check_min_run(min_run: i64) -> Result<u32> {
    match u32::try_from(min_run) {
        Ok(tokens) if (1..=i32::MAX.unsigned_abs()).contains(&tokens) => Ok(tokens),
        _ => Err(Error::Parameter { name: "min_run", value: min_run.to_string(), allowed: "at least 1" }),
    }
}

/// Reports whether tokens of an origin are those of texts.
pub fn is_of_texts(origin: Origin) -> bool {
    Origin::of_text(origin.tokenizer()) == Some(origin)
}

/// A text, and the least length of a run that the texts that are looked for have in common with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunQuery<'a> {
    /// The way in which texts are cut into tokens.
    pub origin: Origin,
    /// The least number of tokens of a run, at least 1.
    pub min_run: u32,
    /// The form in which texts are compared. The text is in this form already.
    pub normalization: Option<Normalization>,
    /// The text.
    pub text: &'a str,
}

impl<'a> RunQuery<'a> {
    /// Returns the bytes of the query. Fails for an origin that is not one of texts.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = header(self.origin, self.min_run, self.normalization)?;
        memory::extend(&mut bytes, self.text.as_bytes(), DOING)?;
        Ok(bytes)
    }

    /// Parses a query. Fails for malformed bytes. O(bytes).
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (&[_, origin, form, zero, min_run @ ..], text) = split_header::<HEADER>(NAME, bytes, VERSION)?;
        let known = Origin::from_byte(origin).filter(|&origin| is_of_texts(origin));
        let origin = known.ok_or_else(|| bad(format!("origin {origin} is not known")))?;
        if zero != 0 {
            return Err(bad("reserved bytes are not 0"));
        }
        let normalization = Normalization::from_number(form)
            .ok_or_else(|| bad(format!("normalization form {form} is not known")))?;
        check_form(origin, normalization)?;
        let min_run =
            check_min_run(u32::from_le_bytes(min_run).into()).map_err(|error| bad(error.to_string()))?;
        let text = std::str::from_utf8(text).map_err(|_| bad("its text is not UTF-8"))?;
        Ok(Self { origin, min_run, normalization, text })
    }

    /// Returns the anchors of the text, for an index of windows of `least` tokens, which must not
    /// be more than the run has. O(bytes).
    pub fn anchors(&self, least: u32, stop: &Stop) -> Result<QueryAnchors> {
        let (mut tokens, mut anchors) = (Vec::new(), Vec::new());
        read_tokens(self.text, self.origin.tokenizer(), &mut Scratch::default(), &mut tokens, stop)?;
        Anchors::new(least as usize).select(&tokens, stop, &mut anchors)?;
        let windows = anchors.iter().map(|anchor| anchor.windows).sum();
        let rule = AnchorSignatures::new(least as usize);
        let signatures =
            memory::collect(anchors.iter().map(|anchor| rule.signature(&tokens, anchor)), DOING)?;
        let shared = self.min_run.saturating_sub(least) + 1;
        Ok(QueryAnchors { anchors, signatures, rule, windows, shared, min_run: self.min_run })
    }

    /// Formats the query as text: `<words:16:"a text">`. A text is cut off after `most` characters.
    pub fn to_text(&self, most: usize, stop: &Stop) -> Result<String> {
        let form = Normalization::prefix(self.normalization);
        let head = format!("<{}:{}:{form}", self.origin.name(), self.min_run);
        let mut writer = JsonWriter::new(head, most, stop);
        writer.string(self.text)?;
        writer.finish()
    }

    /// Parses the output of [`RunQuery::to_text`] and returns the query's bytes.
    pub fn from_text(text: &str, stop: &Stop) -> Result<Vec<u8>> {
        let inner = text.trim().strip_prefix('<').and_then(|text| text.strip_suffix('>'));
        let fields: Vec<&str> = inner.unwrap_or_default().splitn(3, ':').collect();
        let &[origin, min_run, text] = fields.as_slice() else {
            return Err(bad("it should be <, 3 parts with colons between them, and >"));
        };
        let origin = Origin::from_name(origin.trim()).ok_or_else(|| bad("its tokenizer is not known"))?;
        let min_run = min_run.trim().parse().map_err(|_| bad("its least run is not a number"))?;
        let min_run = check_min_run(min_run).map_err(|error| bad(error.to_string()))?;
        let (form, text) = Normalization::without_prefix(text);
        let mut bytes = header(origin, min_run, form)?;
        let mut reader = JsonReader::new(text, NAME, stop);
        reader.string(&mut bytes)?;
        reader.end()?;
        Ok(bytes)
    }
}

fn check_form(origin: Origin, normalization: Option<Normalization>) -> Result<()> {
    let no_form = || bad(format!("a text of {} has no normalization form", origin.name()));
    if Normalization::fits(normalization, origin) { Ok(()) } else { Err(no_form()) }
}

fn header(origin: Origin, min_run: u32, normalization: Option<Normalization>) -> Result<Vec<u8>> {
    if !is_of_texts(origin) {
        return Err(bad(format!("runs are of texts, not of {}", origin.name())));
    }
    check_form(origin, normalization)?;
    let first = [VERSION, origin as u8, Normalization::number(normalization), 0];
    memory::collect(first.into_iter().chain(min_run.to_le_bytes()), DOING)
}

fn bad(why: impl Into<String>) -> Error {
    Error::Malformed { what: NAME, why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::json::{SHOWN, WHOLE};
    use proptest::prelude::*;

    const ORIGINS: [Origin; 4] = [Origin::Words, Origin::Chars, Origin::Whitespace, Origin::Html];

    proptest! {
        #[test]
        fn what_was_written_is_read(
            text in any::<String>(),
            origin in prop::sample::select(ORIGINS.to_vec()),
            min_run in 1..i32::MAX.unsigned_abs(),
            form in 0..3_u8,
        ) {
            let form = Normalization::from_number(form).unwrap();
            let normalization = form.filter(|_| origin != Origin::Html);
            let query = RunQuery { origin, min_run, normalization, text: &text };
            let (bytes, stop) = (query.to_bytes().unwrap(), Stop::default());
            prop_assert_eq!(RunQuery::parse(&bytes), Ok(query));
            let shown = query.to_text(WHOLE, &stop).unwrap();
            prop_assert_eq!(RunQuery::from_text(&shown, &stop), Ok(bytes));
        }

        #[test]
        fn any_bytes_are_queries_or_errors(bytes in prop::collection::vec(any::<u8>(), 0..20), whole in any::<bool>()) {
            let mut bytes = bytes;
            if whole && bytes.len() > HEADER {
                let form = bytes[2] % 4;
                bytes[..4].copy_from_slice(&[VERSION, 1, form, 0]);
            }
            if let Ok(query) = RunQuery::parse(&bytes) {
                prop_assert_eq!(query.to_bytes(), Ok(bytes));
            }
        }

        #[test]
        fn any_text_is_a_query_or_an_error(text in "<?(words|chars|tokens)?:?-?[0-9]{0,12}:?\"?.{0,9}\"?>?") {
            if let Ok(bytes) = RunQuery::from_text(&text, &Stop::default()) {
                prop_assert!(RunQuery::parse(&bytes).is_ok());
            }
        }
    }

    #[test]
    fn queries_stay_as_they_are() {
        let query = RunQuery { origin: Origin::Words, min_run: 300, normalization: None, text: "To be" };
        let bytes = query.to_bytes().unwrap();
        assert_eq!(bytes, [1, 1, 0, 0, 0x2c, 1, 0, 0, b'T', b'o', b' ', b'b', b'e']);
        let stop = Stop::default();
        assert_eq!(query.to_text(WHOLE, &stop).unwrap(), "<words:300:\"To be\">");
        let long = "word ".repeat(20);
        let short = RunQuery { text: &long, ..query }.to_text(SHOWN, &stop).unwrap();
        assert!(short.ends_with("...>") && short.len() < 70);
        for wrong in ["", "<words:16>", "<tokens:16:\"a\">", "<words:0:\"a\">", "<words:16:a>"] {
            assert!(RunQuery::from_text(wrong, &stop).is_err());
        }
        // An index stores these hashes, so they never change.
        let anchors = RunQuery { text: "To be, or not to be", ..query }.anchors(4, &stop).unwrap();
        let hashes: Vec<u64> = anchors.anchors.iter().map(|anchor| anchor.hash).collect();
        assert_eq!((hashes, anchors.windows, anchors.shared), (vec![728_981_464_076_579_704], 3, 297));
        assert!(RunQuery { origin: Origin::Numbers, ..query }.to_bytes().is_err());
        let query = RunQuery { normalization: Some(Normalization::Nfc), ..query };
        assert_eq!(query.to_bytes().unwrap()[..4], [1, 1, 1, 0]);
        assert_eq!(query.to_text(WHOLE, &stop).unwrap(), "<words:300:nfc:\"To be\">");
        assert!(RunQuery { origin: Origin::Html, ..query }.to_bytes().is_err());
        assert!(RunQuery::parse(&[1, 1, 0, 0, 0, 0, 0, 0]).is_err());
    }
}
