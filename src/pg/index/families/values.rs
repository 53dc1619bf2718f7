//! Decodes the values of a column, and what an index keeps of them. How an index cuts texts is a
//! byte of its metapage, which has the origin of the tokens in its lower half and the normalization
//! form of the texts in its upper half.

use std::borrow::Cow;

use pgrx::pg_sys::Datum;

use super::class::OperatorClass;
use crate::pg::index::layout::format::Meta;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::request::no_normalization_of_pages;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::normalization::normalized;
use neardup_core::executor::{self, Executor, PlainThreads, Stop};
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::search::keys::KeyScratch;
use neardup_core::{error, memory, text};

/// The stored form of a value in an index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredValue {
    /// The flags of the row.
    pub flags: u16,
    /// The sketch, or the signatures of an array.
    pub bytes: Vec<u8>,
}

impl StoredValue {
    /// Returns the stored form of NULL.
    pub(crate) fn null() -> Self {
        Self { flags: HeapRow::NULL, bytes: Vec::new() }
    }

    /// Makes a stored value of the bytes of numbers.
    pub(super) fn with_numbers(flags: u16, numbers: &[u64], doing: &'static str) -> error::Result<Self> {
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, size_of_val(numbers), doing)?;
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        Ok(Self { flags, bytes })
    }
}

/// The data that a segment stores of an item, and buffers for making it.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    /// The bytes stored next to the row.
    pub sketch: Vec<u8>,
    /// The signatures of the row.
    pub signatures: Vec<u64>,
    /// A buffer for the tokens of a set.
    pub tokens: Vec<u32>,
    /// A buffer for the prefix of a set.
    pub prefix: Vec<u32>,
    /// A buffer for the ranks of tokens.
    pub scratch: KeyScratch,
}

/// Returns a text as UTF-8, in a normalization form.
///
/// # Safety
/// `value` is a text and not NULL.
pub(crate) unsafe fn text_of(value: Datum, form: Option<Normalization>) -> Result<String> {
    // SAFETY: the caller's promise.
    let text = encoding::to_utf8(unsafe { varlena_bytes(value) })?;
    let text = text.ok_or_else(|| SqlError::not_utf8("a text to be indexed"))?;
    Ok(memory::owned(normalized(form, text)?, "reading a text")?)
}

/// Makes the stored form of a document. May be called again after a stop.
pub(crate) type Cutter<'a> = Box<dyn FnMut(&Document, &Stop) -> error::Result<StoredValue> + Send + 'a>;

/// A value of a column.
pub(crate) enum ColumnValue {
    /// The stored form of a value that is no document.
    Kept(StoredValue),
    /// A document, whose stored form a [`Cutter`] makes.
    Document(Document),
}

const DOING: &str = "sketching texts";

/// A row with what waits to be kept, or is kept, of its value.
#[derive(Debug)]
pub(crate) struct KeptRow<T = StoredValue> {
    /// The address.
    pub tid: u64,
    /// The group.
    pub group: u64,
    /// The document, or its stored form.
    pub kept: T,
}

/// Documents that wait until there are enough of them to use several threads. A row need not have
/// one.
#[derive(Debug, Default)]
pub(crate) struct WaitingTexts {
    waiting: Vec<KeptRow<Option<Document>>>,
    bytes: usize,
}

impl WaitingTexts {
    /// The number of bytes that are processed at a time: some milliseconds of work for each thread.
    const BYTES: usize = 4 << 20;
    const ROWS: usize = 1 << 13;
    /// The number of rows that a thread takes at a time.
    const PIECE: usize = 1 << 6;
    /// The number of bytes below which starting a thread takes longer than the work.
    const FEW_BYTES: usize = 1 << 16;

    /// Adds a row.
    pub(crate) fn push(&mut self, tid: u64, group: u64, kept: Option<Document>) -> Result<()> {
        self.bytes += kept.as_ref().map_or(0, Document::bytes);
        Ok(memory::push(&mut self.waiting, KeptRow { tid, group, kept }, DOING)?)
    }

    /// Reports whether no rows are waiting.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Reports whether enough rows are waiting to be processed.
    pub(crate) fn are_enough(&self) -> bool {
        self.bytes >= Self::BYTES || self.waiting.len() >= Self::ROWS
    }

    /// Removes all waiting rows and returns them with their stored forms, in the order in which
    /// they were added. Each piece of the rows is processed with its own cutter.
    pub(crate) fn keep<'a>(&mut self, cutter: impl Fn() -> Cutter<'a> + Sync) -> Result<Vec<KeptRow>> {
        let waiting = std::mem::take(&mut self.waiting);
        let several = BackendExecutor::new();
        let executor: &dyn Executor =
            if std::mem::take(&mut self.bytes) < Self::FEW_BYTES { &PlainThreads(1) } else { &several };
        let mut pieces: Vec<_> = waiting.chunks(Self::PIECE).map(|rows| (rows, Vec::new())).collect();
        executor::each(executor, &mut pieces, |(rows, kept), stop| {
            let mut keep = cutter();
            while let Some((&KeptRow { tid, group, kept: ref document }, rest)) = rows.split_first() {
                let one = document.as_ref().map(|document| keep(document, stop)).transpose()?;
                let one = one.unwrap_or_else(StoredValue::null);
                memory::push(kept, KeptRow { tid, group, kept: one }, DOING)?;
                *rows = rest;
            }
            Ok(())
        })?;
        let mut all = Vec::new();
        memory::reserve(&mut all, waiting.len(), DOING)?;
        pieces.into_iter().for_each(|(_, kept)| all.extend(kept));
        Ok(all)
    }
}

const HALF: u32 = u8::BITS / 2;

/// Returns the byte.
fn cut_byte(origin: Origin, form: Option<Normalization>) -> u8 {
    origin as u8 | Normalization::number(form) << HALF
}

/// Reads the byte. Returns None if no index has it.
pub(super) fn read_cut(byte: u8) -> Option<(Origin, Option<Normalization>)> {
    let origin = Origin::from_byte(byte & ((1 << HALF) - 1))?;
    let form = Normalization::from_number(byte >> HALF)?;
    Normalization::fits(form, origin).then_some((origin, form))
}

/// Returns the metapage of a new index of texts or other documents, without the parameters of its
/// family.
pub(super) fn meta_of_texts(
    class: OperatorClass,
    origin: Origin,
    form: Option<Normalization>,
) -> Result<Meta> {
    check_form(origin, form)?;
    Ok(Meta {
        family: class.family() as u8,
        class: class as u8,
        text_version: text::VERSION,
        tokenizer: cut_byte(origin, form),
        ..Meta::default()
    })
}

/// Refuses a form for a new index that could contain no text in it.
fn check_form(origin: Origin, form: Option<Normalization>) -> Result<()> {
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
        assert_eq!(cut_byte(Origin::Words, None), 1);
        assert_eq!(cut_byte(Origin::Chars, Some(Normalization::Nfkc)), 0x22);
        for byte in 0..=u8::MAX {
            if let Some((origin, form)) = read_cut(byte) {
                assert_eq!(cut_byte(origin, form), byte);
            }
        }
        assert_eq!((read_cut(0x22).is_some(), read_cut(0x27), read_cut(0x31)), (true, None, None));
    }
}
