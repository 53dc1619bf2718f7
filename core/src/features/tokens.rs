//! Turns documents into tokens. A specification says which tokenizer is used, how many words make a
//! token, and whether repeats count.

use super::shingles;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::hash;
use crate::memory;
use crate::text::characters::runs;
use crate::text::{grams, html, words};

/// The way in which a text is cut into tokens.
///
/// ```
/// use neardup_core::{Corpus, FeatureSpec, Measure, Sets, Tokenizer};
///
/// let spec = FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 3, ..FeatureSpec::WORDS };
/// let method = Sets { spec, ..Sets::of_words(Measure::Jaccard, 0.5)? };
/// let pairs = Corpus::of_texts(&["harbour", "harbours"]).pairs(&method)?;
/// // Five of the six runs of three characters.
/// assert_eq!(pairs[0].similarity, 5.0 / 6.0);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokenizer {
    /// Words, as [`words`](crate::words) cuts them. A text without a word is one token, of its
    /// characters without white space, so that equal texts are equal.
    Words,
    /// q-grams of characters of the case-folded text, in which each run of white space is one space
    /// and characters that nobody sees are left out; the shingle length is q.
    Chars,
    /// Hashes of the q-grams of characters of the unchanged text; the shingle length is q.
    RawChars,
    /// Runs between white space, unchanged.
    Whitespace,
    /// Words of the text of an HTML page ([`html_text`](crate::html_text)).
    Html,
}

/// The way in which a document becomes a set.
///
/// A *shingle* is a run of consecutive tokens (Broder, SEQUENCES 1997); a text of fewer tokens has
/// one shingle of all its tokens.
///
/// ```
/// use neardup_core::{Corpus, FeatureSpec, Measure, Sets};
///
/// let spec = FeatureSpec { shingle: 2, multiset: false, ..FeatureSpec::WORDS };
/// let method = Sets { spec, ..Sets::of_words(Measure::Jaccard, 0.3)? };
/// let pairs = Corpus::of_texts(&["to be or not", "not to be or"]).pairs(&method)?;
/// // "to be" and "be or", of four distinct pairs of words.
/// assert_eq!(pairs[0].similarity, 0.5);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureSpec {
    /// The way in which texts are cut.
    pub tokenizer: Tokenizer,
    /// The number of tokens in a shingle (characters in a gram), 1 to
    /// [`FeatureSpec::LONGEST_SHINGLE`].
    pub shingle: usize,
    /// Whether the k-th occurrence of a token is a separate token.
    pub multiset: bool,
    /// Whether shingles that reach the end of the text continue at its start.
    pub wrap: bool,
}

impl FeatureSpec {
    /// The greatest length of a shingle. Each window is hashed as a whole, so longer shingles would
    /// cost time without being useful.
    ///
    /// ```
    /// assert_eq!(neardup_core::FeatureSpec::LONGEST_SHINGLE, 1000);
    /// ```
    pub const LONGEST_SHINGLE: usize = 1000;

    /// Single words with repeats counted: the default of the exact measures.
    ///
    /// ```
    /// use neardup_core::{FeatureSpec, Tokenizer};
    ///
    /// let spec = FeatureSpec::WORDS;
    /// assert_eq!((spec.tokenizer, spec.shingle, spec.multiset), (Tokenizer::Words, 1, true));
    /// ```
    pub const WORDS: Self = Self { tokenizer: Tokenizer::Words, shingle: 1, multiset: true, wrap: false };

    /// Reports whether the tokens of texts are hashes of shingles or of grams of characters.
    pub(crate) fn hashes_texts(&self) -> bool {
        match self.tokenizer {
            Tokenizer::Chars => false,
            Tokenizer::RawChars => true,
            _ => self.shingle > 1,
        }
    }

    /// Checks a shingle length from a user.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn check_shingle(name: &'static str, shingle: i64) -> Result<usize> {
        match usize::try_from(shingle) {
            Ok(k) if (1..=Self::LONGEST_SHINGLE).contains(&k) => Ok(k),
            _ => Err(Error::Parameter { name, value: shingle.to_string(), allowed: "between 1 and 1000" }),
        }
    }
}

/// A document: a text, a page, or the tokens or numbers that the caller has made of it.
///
/// A document without a token is similar to nothing.
///
/// ```
/// use neardup_core::{Corpus, Document, Measure, Sets};
///
/// let documents = [
///     Document::from("The crane"),
///     Document::Tokens(vec!["crane".into(), "the".into()]),
///     Document::Numbers(vec![7, 8]),
/// ];
/// let mut corpus = Corpus::new(documents.len(), |row| Some(documents[row].clone()));
/// assert_eq!(corpus.pairs(&Sets::of_words(Measure::Jaccard, 1.0)?)?.len(), 1);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Document {
    /// A text that is not cut yet.
    Text(String),
    /// An HTML page. Only its text counts; this does not depend on the tokenizer.
    Page(Page),
    /// Tokens from the user.
    Tokens(Vec<String>),
    /// Numbers from the user.
    Numbers(Vec<i64>),
}

/// An HTML page.
///
/// Its text is the text that [`html_text`](crate::html_text) returns.
///
/// ```
/// use neardup_core::{Corpus, Document, HtmlPage, Measure, Sets};
///
/// let page = |html: &str| Document::Page(HtmlPage { html: html.into(), url: None });
/// let pages = [page("<p>The <b>crane</b>"), page("<h1>The crane</h1><script>x()</script>")];
/// let mut corpus = Corpus::new(2, |row| Some(pages[row].clone()));
/// assert_eq!(corpus.pairs(&Sets::of_words(Measure::Jaccard, 1.0)?)?.len(), 1);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The source of the page.
    pub html: String,
    /// The URL of the page, if it is known.
    pub url: Option<String>,
}

impl Page {
    /// Replaces the content of `text` with the text of the page, as [`html::html_text`] returns it.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn read(&self, text: &mut String, stop: &Stop) -> Result<()> {
        html::read_text(&self.html, self.url.as_deref(), text, stop)
    }
}

impl From<&str> for Document {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Default for Document {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Document {
    /// Returns the document itself or, for a page, its text. `space` is memory for the text.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn read<'a>(&'a self, space: &'a mut Self, stop: &Stop) -> Result<&'a Self> {
        let Self::Page(page) = self else { return Ok(self) };
        let mut text = match std::mem::take(space) {
            Self::Text(text) => text,
            _ => String::new(),
        };
        let read = page.read(&mut text, stop);
        *space = Self::Text(text);
        read.map(|()| &*space)
    }

    /// Returns the text if its words are the tokens. Most documents are like this, so they have a
    /// separate fast path.
    #[inline]
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn plain_words(&self, spec: &FeatureSpec) -> Option<&str> {
        match self {
            Self::Text(text) if spec.tokenizer == Tokenizer::Words && spec.shingle == 1 => Some(text),
            _ => None,
        }
    }

    /// Reports whether the tokens are numbers: those of the user, or hashes of shingles or of grams
    /// of characters.
    pub(crate) fn has_numbers(&self, spec: &FeatureSpec) -> bool {
        match self {
            Self::Text(_) => spec.hashes_texts(),
            Self::Numbers(_) => true,
            Self::Page(_) | Self::Tokens(_) => spec.shingle > 1,
        }
    }

    /// Returns the approximate number of bytes from which the document's tokens are made.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Page(page) => page.html.len(),
            Self::Tokens(tokens) => tokens.iter().map(|t| t.len() + size_of::<String>()).sum(),
            Self::Numbers(numbers) => size_of_val(numbers.as_slice()),
        }
    }
}

/// A document whose content is elsewhere.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub enum DocumentRef<'a> {
    /// A text that is not cut yet.
    Text(&'a str),
    /// An HTML page.
    Page(&'a Page),
    /// Tokens from the user.
    Tokens(&'a [String]),
    /// Numbers from the user.
    Numbers(&'a [i64]),
}

impl<'a> From<&'a str> for DocumentRef<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Document> for DocumentRef<'a> {
    fn from(document: &'a Document) -> Self {
        match document {
            Document::Text(text) => Self::Text(text),
            Document::Page(page) => Self::Page(page),
            Document::Tokens(tokens) => Self::Tokens(tokens),
            Document::Numbers(numbers) => Self::Numbers(numbers),
        }
    }
}

/// One token: a string, or a number (a shingle's hash, an element of a `bigint[]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// A string of bytes, equal only to the same bytes.
    Bytes(&'a [u8]),
    /// A number.
    Number(u64),
}

impl Token<'_> {
    /// Returns the hash of the token as an element of a set, which is part of the stored and sent
    /// forms of sets. No two numbers have the same hash.
    #[inline]
    pub fn hash(self) -> u64 {
        match self {
            Self::Bytes(bytes) => hash::hash_bytes(bytes),
            Self::Number(number) => hash::mix(number),
        }
    }

    /// Returns the element that the token is of a sketch: its hash, or the number itself, which
    /// already is a hash if the token is a shingle.
    #[inline]
    pub fn element(self) -> u64 {
        match self {
            Self::Bytes(bytes) => hash::hash_bytes(bytes),
            Self::Number(number) => number,
        }
    }
}

/// Scratch memory that is reused from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    word: words::WordScratch,
    page: String,
    hashes: Vec<u64>,
    bytes: Vec<u8>,
    grams: grams::GramScratch,
}

impl Scratch {
    /// Returns the memory for [`words::for_each_words`].
    pub fn word(&mut self) -> &mut words::WordScratch {
        &mut self.word
    }
}

/// Calls `each` with every token of the document, in order, including repeats. O(bytes · shingle).
pub fn for_each_token<'a>(
    document: impl Into<DocumentRef<'a>>,
    spec: &FeatureSpec,
    scratch: &mut Scratch,
    stop: &Stop,
    mut each: impl FnMut(Token<'_>) -> Result<()>,
) -> Result<()> {
    let document = document.into();
    match document {
        DocumentRef::Text(text) if spec.tokenizer == Tokenizer::Chars => {
            grams::for_each_gram(text, spec.shingle, &mut scratch.grams, stop, |gram| {
                each(Token::Bytes(gram))
            })
        }
        DocumentRef::Text(text) if spec.tokenizer == Tokenizer::RawChars => {
            grams::for_each_raw_gram(text, spec.shingle, stop, |gram| each(Token::Number(gram)))
        }
        DocumentRef::Numbers(numbers) if spec.shingle == 1 => {
            numbers.iter().try_for_each(|&number| each(Token::Number(number.cast_unsigned())))
        }
        _ if spec.shingle == 1 => {
            let Scratch { word, page, .. } = scratch;
            for_each_unit(document, spec.tokenizer, word, page, stop, |unit| each(Token::Bytes(unit)))
        }
        _ => {
            let Scratch { word, page, hashes, bytes, .. } = scratch;
            hashes.clear();
            match document {
                DocumentRef::Numbers(numbers) => {
                    let hashed = numbers.iter().map(|&number| hash::mix(number.cast_unsigned()));
                    memory::append(hashes, hashed, shingles::DOING)?;
                }
                DocumentRef::Text(text) if spec.tokenizer == Tokenizer::Words => {
                    shingles::hash_words(text, word, hashes, stop)?;
                }
                _ => for_each_unit(document, spec.tokenizer, word, page, stop, |unit| {
                    memory::push(hashes, hash::hash_bytes(unit), shingles::DOING)
                })?,
            }
            shingles::for_each_shingle(hashes, spec.shingle, spec.wrap, bytes, stop, |shingle| {
                each(Token::Number(shingle))
            })
        }
    }
}

/// Calls `each` with the units that shingles are made of: words, runs without white space, or the
/// user's tokens.
fn for_each_unit(
    document: DocumentRef<'_>,
    tokenizer: Tokenizer,
    word: &mut words::WordScratch,
    page: &mut String,
    stop: &Stop,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 12;
    match document {
        DocumentRef::Text(text) if tokenizer == Tokenizer::Whitespace => {
            runs(text).enumerate().try_for_each(|(n, unit)| {
                stop.check_every(n, CHECK_EVERY)?;
                each(unit.as_bytes())
            })
        }
        DocumentRef::Text(text) if tokenizer == Tokenizer::Html => {
            html::read_text(text, None, page, stop)?;
            words_or_signs(page, word, stop, each)
        }
        DocumentRef::Text(text) => words_or_signs(text, word, stop, each),
        DocumentRef::Page(source) => {
            source.read(page, stop)?;
            words_or_signs(page, word, stop, each)
        }
        DocumentRef::Tokens(tokens) => tokens.iter().enumerate().try_for_each(|(n, token)| {
            stop.check_every(n, CHECK_EVERY)?;
            each(token.as_bytes())
        }),
        DocumentRef::Numbers(_) => Ok(()),
    }
}

/// Calls `each` with the words of a text or, if there are none, with its signs as one token.
fn words_or_signs(
    text: &str,
    word: &mut words::WordScratch,
    stop: &Stop,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut none = true;
    words::for_each_word(text, word, stop, |word| {
        none = false;
        each(word)
    })?;
    if none { words::for_text_of_signs(text, stop, each) } else { Ok(()) }
}
