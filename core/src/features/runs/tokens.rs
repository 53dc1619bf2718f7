//! The tokens of a document as hashes, in the order of the text. O(bytes).

use crate::error::Result;
use crate::executor::Stop;
use crate::features::tokens::{Document, FeatureSpec, Scratch, Tokenizer, for_each_token};
use crate::memory;

/// Replaces the content of `hashes` with the hashes of the document's tokens, repeats included.
/// Tokens are single words, single characters with `Tokenizer::Chars`, or ready-made tokens.
pub fn read_tokens(
    document: &Document,
    tokenizer: Tokenizer,
    scratch: &mut Scratch,
    hashes: &mut Vec<u64>,
    stop: &Stop,
) -> Result<()> {
    hashes.clear();
    each_token(document, tokenizer, scratch, stop, |hash| {
        memory::push(hashes, hash, "reading the tokens of a text")
    })
}

/// Calls `each` with the hashes of the document's tokens, one after the other, until it fails.
pub fn each_token(
    document: &Document,
    tokenizer: Tokenizer,
    scratch: &mut Scratch,
    stop: &Stop,
    mut each: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let spec = FeatureSpec { tokenizer, ..FeatureSpec::WORDS };
    for_each_token(document, &spec, scratch, stop, |token| each(token.hash()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_in_the_order_of_the_text() {
        let read = |text: &str, tokenizer| {
            let mut hashes = vec![7];
            let document = Document::from(text);
            read_tokens(&document, tokenizer, &mut Scratch::default(), &mut hashes, &Stop::default())
                .unwrap();
            hashes
        };
        let words = read("The crane; the CRANE", Tokenizer::Words);
        assert_eq!((words.len(), words[0], words[1]), (4, words[2], words[3]));
        assert!(read("", Tokenizer::Words).is_empty());
        assert_eq!(read("aA b", Tokenizer::Chars).len(), 4);
    }
}
