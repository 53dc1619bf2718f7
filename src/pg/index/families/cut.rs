//! How an index cuts texts: the byte of its metapage that has the origin of the tokens in its lower
//! half and the normalization form of the texts in its upper half.

use std::borrow::Cow;

use crate::pg::request::no_normalization_of_pages;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::normalization::normalized;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;

const HALF: u32 = u8::BITS / 2;

/// Returns the byte.
pub(super) fn number_of(origin: Origin, form: Option<Normalization>) -> u8 {
    origin as u8 | Normalization::number(form) << HALF
}

/// Reads the byte. Returns None if no index has it.
pub(super) fn read(byte: u8) -> Option<(Origin, Option<Normalization>)> {
    let origin = Origin::from_byte(byte & ((1 << HALF) - 1))?;
    let form = Normalization::from_number(byte >> HALF)?;
    Normalization::fits(form, origin).then_some((origin, form))
}

/// Refuses a form for a new index that could contain no text in it.
pub(super) fn check_form(origin: Origin, form: Option<Normalization>) -> Result<()> {
    if !Normalization::fits(form, origin) {
        return Err(match origin {
            Origin::Html => no_normalization_of_pages()
                .hint("An index of that text: USING signature (normalize(html_text(body), NFKC))"),
            _ => {
                let of = origin.name();
                SqlError::parameter(format!(
                    "only plain texts are normalized, and the index is for balls of {of}"
                ))
                .hint(format!("Without normalize: USING signature (… text_ball_set_ops (tokenizer = {of}))"))
            }
        });
    }
    // The server has no forms in other encodings than UTF8.
    normalized(form, Cow::Borrowed("")).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pg_bytes_of_cuts() {
        assert_eq!(number_of(Origin::Words, None), 1);
        assert_eq!(number_of(Origin::Chars, Some(Normalization::Nfkc)), 0x22);
        for byte in 0..=u8::MAX {
            if let Some((origin, form)) = read(byte) {
                assert_eq!(number_of(origin, form), byte);
            }
        }
        assert_eq!((read(0x22).is_some(), read(0x27), read(0x31)), (true, None, None));
    }
}
