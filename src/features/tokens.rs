//! Documents into tokens: which tokeniser, how many words a token, and whether repeats count.

use super::shingles;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::hash;
use crate::memory;
use crate::text::characters::runs;
use crate::text::{grams, html, words};

/// How a text is cut into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokenizer {
    /// [`crate::text::words`].
    Words,
    /// q-grams of characters ([`crate::text::grams`]); the shingle length is q.
    Chars,
    /// Hashes of the q-grams of characters of the text as it is; the shingle length is q.
    RawChars,
    /// Not at all: texts are kept, to be compared character by character.
    Whole,
    /// Runs of anything that is not white space, as they stand.
    Whitespace,
    /// Words of the text of an HTML page ([`crate::text::html`]).
    Html,
}

/// How a document becomes a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureSpec {
    /// How texts are cut.
    pub tokenizer: Tokenizer,
    /// Tokens to a shingle (characters to a gram), 1 to [`FeatureSpec::LONGEST_SHINGLE`].
    pub shingle: usize,
    /// Whether the k-th occurrence of a token is a token of its own.
    pub multiset: bool,
    /// Whether shingles go on from the end of the text to its start.
    pub wrap: bool,
}

impl FeatureSpec {
    /// The longest shingle; windows are hashed whole, so longer ones would cost without use.
    pub const LONGEST_SHINGLE: usize = 1000;

    /// Words, one a token, repeats counted: the default of the exact measures.
    pub const WORDS: Self = Self { tokenizer: Tokenizer::Words, shingle: 1, multiset: true, wrap: false };

    /// Whole texts.
    pub const WHOLE: Self = Self { tokenizer: Tokenizer::Whole, ..Self::WORDS };

    /// Checks a shingle length that a user gave.
    pub fn check_shingle(name: &'static str, shingle: i64) -> Result<usize> {
        match usize::try_from(shingle) {
            Ok(k) if (1..=Self::LONGEST_SHINGLE).contains(&k) => Ok(k),
            _ => Err(Error::Parameter { name, value: shingle.to_string(), allowed: "between 1 and 1000" }),
        }
    }
}

/// A document as it comes from its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Document {
    /// A text, still to be cut.
    Text(String),
    /// An HTML page, of which only the text counts, whatever the tokeniser.
    Page(Page),
    /// Tokens already made.
    Tokens(Vec<String>),
    /// Numbers already made.
    Numbers(Vec<i64>),
}

/// An HTML page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its source.
    pub html: String,
    /// Where it is, if that is known.
    pub url: Option<String>,
}

impl Page {
    /// Puts its text, as [`html::html_text`] gives it, in place of what was in `text`.
    pub fn read(&self, text: &mut String, stop: &Stop) -> Result<()> {
        html::read_text(&self.html, self.url.as_deref(), text, stop)
    }
}

impl Default for Document {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Document {
    /// The document itself or, of a page, its text, for which `space` is space.
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

    /// The text, if its words are the tokens: what most documents are, and what is worth a way of its own.
    #[inline]
    pub fn plain_words(&self, spec: &FeatureSpec) -> Option<&str> {
        match self {
            Self::Text(text) if spec.tokenizer == Tokenizer::Words && spec.shingle == 1 => Some(text),
            _ => None,
        }
    }

    /// About how many bytes its tokens are made from.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Page(page) => page.html.len(),
            Self::Tokens(tokens) => tokens.iter().map(|t| t.len() + size_of::<String>()).sum(),
            Self::Numbers(numbers) => size_of_val(numbers.as_slice()),
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
    /// The hash of the token as an element of a set, which stored and sent forms of sets have. No two numbers have the same.
    #[inline]
    pub fn hash(self) -> u64 {
        match self {
            Self::Bytes(bytes) => hash::hash_bytes(bytes),
            Self::Number(number) => hash::mix(number),
        }
    }
}

/// Space that documents use in turn.
#[derive(Debug, Default)]
pub struct Scratch {
    word: words::Space,
    page: String,
    hashes: Vec<u64>,
    bytes: Vec<u8>,
    grams: grams::GramScratch,
}

impl Scratch {
    /// Space for [`words::for_each_words`].
    pub fn word(&mut self) -> &mut words::Space {
        &mut self.word
    }
}

/// Calls `each` with every token of the document, in order, repeats included. O(bytes · shingle).
pub fn for_each_token(
    document: &Document,
    spec: &FeatureSpec,
    scratch: &mut Scratch,
    stop: &Stop,
    mut each: impl FnMut(Token<'_>) -> Result<()>,
) -> Result<()> {
    match document {
        Document::Text(text) if spec.tokenizer == Tokenizer::Chars => {
            grams::for_each_gram(text, spec.shingle, &mut scratch.grams, stop, |gram| {
                each(Token::Bytes(gram))
            })
        }
        Document::Text(text) if spec.tokenizer == Tokenizer::RawChars => {
            grams::for_each_raw_gram(text, spec.shingle, stop, |gram| each(Token::Number(gram)))
        }
        Document::Numbers(numbers) if spec.shingle == 1 => {
            numbers.iter().try_for_each(|&number| each(Token::Number(number.cast_unsigned())))
        }
        _ if spec.shingle == 1 => {
            let Scratch { word, page, .. } = scratch;
            for_each_unit(document, spec.tokenizer, word, page, stop, |unit| each(Token::Bytes(unit)))
        }
        _ => {
            let Scratch { word, page, hashes, bytes, .. } = scratch;
            hashes.clear();
            if let Document::Numbers(numbers) = document {
                for &number in numbers {
                    push_hash(hashes, hash::mix(number.cast_unsigned()))?;
                }
            } else {
                for_each_unit(document, spec.tokenizer, word, page, stop, |unit| {
                    push_hash(hashes, hash::hash_bytes(unit))
                })?;
            }
            shingles::for_each_shingle(hashes, spec.shingle, spec.wrap, bytes, stop, |shingle| {
                each(Token::Number(shingle))
            })
        }
    }
}

fn push_hash(hashes: &mut Vec<u64>, hash: u64) -> Result<()> {
    memory::push(hashes, hash, "hashing the words of a text")
}

/// The units that shingles are made of: words, runs without white space, given tokens.
fn for_each_unit(
    document: &Document,
    tokenizer: Tokenizer,
    word: &mut words::Space,
    page: &mut String,
    stop: &Stop,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 12;
    match document {
        Document::Text(text) if tokenizer == Tokenizer::Whitespace => {
            runs(text).enumerate().try_for_each(|(n, unit)| {
                if n % CHECK_EVERY == 0 {
                    stop.check()?;
                }
                each(unit.as_bytes())
            })
        }
        Document::Text(text) if tokenizer == Tokenizer::Html => {
            html::read_text(text, None, page, stop)?;
            words::for_each_word(page, word, stop, each)
        }
        Document::Text(text) => words::for_each_word(text, word, stop, each),
        Document::Page(source) => {
            source.read(page, stop)?;
            words::for_each_word(page, word, stop, each)
        }
        Document::Tokens(tokens) => tokens.iter().enumerate().try_for_each(|(n, token)| {
            if n % CHECK_EVERY == 0 {
                stop.check()?;
            }
            each(token.as_bytes())
        }),
        Document::Numbers(_) => Ok(()),
    }
}
