//! The places of tokens in their text. O(bytes): many bytes at a time for words in ASCII, and one
//! character at a time for everything else.

use crate::error::Result;
use crate::executor::Stop;
use crate::features::tokens::Tokenizer;
use crate::memory;
use crate::simd::ascii;
use crate::text::characters::{WordClass, class, is_space};
use crate::text::spans::{Position, Span};

const DOING: &str = "locating the tokens of a text";

/// Replaces the content of `places` with the places of the tokens of a text, in order. They are the
/// tokens that [`super::tokens::read_tokens`] reads, for the tokenizers that cut a text: words,
/// runs between white space, and single characters, of which a run of white space within the text
/// is one.
pub fn token_places(text: &str, tokenizer: Tokenizer, stop: &Stop, places: &mut Vec<Span>) -> Result<()> {
    places.clear();
    const CHECK_EVERY: usize = 1 << 14;
    let of_words = matches!(tokenizer, Tokenizer::Words | Tokenizer::Html);
    match of_words && text.is_ascii() {
        true => ascii_words(text.as_bytes(), stop, places)?,
        false => each_character(text, tokenizer, stop, places)?,
    }
    if of_words && places.is_empty() {
        // The text is one token, of its signs.
        let mut signs: Option<Span> = None;
        let mut at = Position::default();
        for (n, c) in text.chars().enumerate() {
            stop.check_every(n, CHECK_EVERY)?;
            let end = at.after(c);
            if !is_space(c) && class(c) != WordClass::Unseen {
                let place = signs.get_or_insert_with(|| at.to(end));
                (place.bytes.end, place.chars.end) = (end.byte, end.char);
            }
            at = end;
        }
        if let Some(signs) = signs {
            memory::push(places, signs, DOING)?;
        }
    }
    Ok(())
}

/// Adds the places of the tokens, one character at a time.
fn each_character(text: &str, tokenizer: Tokenizer, stop: &Stop, places: &mut Vec<Span>) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 14;
    let mut at = Position::default();
    let mut last = WordClass::Separator;
    // A token can be continued as long as no separator has come.
    let mut open = false;
    let mut space: Option<Position> = None;
    for (n, c) in text.chars().enumerate() {
        stop.check_every(n, CHECK_EVERY)?;
        let end = at.after(c);
        if tokenizer != Tokenizer::Whitespace && class(c) == WordClass::Unseen {
            // It neither begins nor ends a token.
            at = end;
            continue;
        }
        let token = match tokenizer {
            Tokenizer::Whitespace => (!is_space(c)).then_some(open),
            Tokenizer::Chars if is_space(c) => {
                space = space.or(Some(at)).filter(|_| !places.is_empty());
                None
            }
            Tokenizer::Chars => {
                if let Some(from) = space.take() {
                    memory::push(places, from.to(at), DOING)?;
                }
                Some(false)
            }
            _ => {
                let class = class(c);
                let is_mark = matches!(class, WordClass::Mark | WordClass::AlphabeticMark);
                let continues =
                    open && (is_mark || class == WordClass::Alphanumeric && last != WordClass::Alone);
                let begins = !matches!(class, WordClass::Separator | WordClass::Mark);
                if !(open && is_mark) {
                    last = class;
                }
                (continues || begins).then_some(continues)
            }
        };
        match (token, places.last_mut()) {
            (Some(true), Some(place)) => (place.bytes.end, place.chars.end) = (end.byte, end.char),
            (Some(_), _) => memory::push(places, at.to(end), DOING)?,
            (None, _) => {}
        }
        open = token.is_some();
        at = end;
    }
    Ok(())
}

/// Adds the places of the words of a text of ASCII, whose characters are bytes.
fn ascii_words(text: &[u8], stop: &Stop, places: &mut Vec<Span>) -> Result<()> {
    const BLOCK: usize = 1 << 10;
    const CHECK_EVERY: usize = 64;
    let kernel = ascii::kernel();
    let (mut block, mut bits) = ([0; BLOCK], [0; BLOCK / ascii::CHARACTERS]);
    // The beginning of the word that is open.
    let mut open: Option<usize> = None;
    for (n, bytes) in text.chunks(BLOCK).enumerate() {
        stop.check_every(n, CHECK_EVERY)?;
        let block = &mut block[..bytes.len()];
        block.copy_from_slice(bytes);
        let bits = &mut bits[..bytes.len().div_ceil(ascii::CHARACTERS)];
        kernel(block, bits);
        for (m, &bits) in bits.iter().enumerate() {
            let from = n * BLOCK + m * ascii::CHARACTERS;
            // Kernels do not promise that the bits after the end of the text are zero.
            let here = bits & u64::MAX >> (from + ascii::CHARACTERS).saturating_sub(text.len());
            // A word begins or ends where a bit differs from the one before.
            let mut changes = here ^ (here << 1 | u64::from(open.is_some()));
            while changes != 0 {
                let at = from + changes.trailing_zeros() as usize;
                changes &= changes - 1;
                match open.take() {
                    Some(first) => memory::push(places, word(first, at), DOING)?,
                    None => open = Some(at),
                }
            }
        }
    }
    open.map_or(Ok(()), |first| memory::push(places, word(first, text.len()), DOING))
}

fn word(from: usize, to: usize) -> Span {
    Span { bytes: from..to, chars: from..to }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::runs::tokens::read_tokens;
    use crate::features::tokens::Scratch;
    use crate::hash::hash_bytes;
    use crate::text::words::words;
    use proptest::prelude::*;

    fn check(text: &str) {
        for tokenizer in [Tokenizer::Words, Tokenizer::Whitespace, Tokenizer::Chars] {
            let (mut hashes, mut places) = (Vec::new(), Vec::new());
            let stop = Stop::default();
            read_tokens(text, tokenizer, &mut Scratch::default(), &mut hashes, &stop).unwrap();
            token_places(text, tokenizer, &stop, &mut places).unwrap();
            let of = |place: &Span| {
                let token = place.slice(text);
                assert_eq!(text[..place.bytes.start].chars().count(), place.chars.start);
                assert_eq!(token.chars().count(), place.chars.len());
                match tokenizer {
                    Tokenizer::Words if words(token).is_empty() => {
                        let seen = |&c: &char| !is_space(c) && class(c) != WordClass::Unseen;
                        hash_bytes(token.chars().filter(seen).collect::<String>().as_bytes())
                    }
                    Tokenizer::Words => hash_bytes(words(token).concat().as_bytes()),
                    Tokenizer::Chars
                        if token.chars().all(|c| is_space(c) || class(c) == WordClass::Unseen) =>
                    {
                        hash_bytes(b" ")
                    }
                    Tokenizer::Chars => {
                        let seen = token.chars().filter(|&c| class(c) != WordClass::Unseen);
                        let lower: String = seen.map(crate::text::characters::lower).collect();
                        hash_bytes(lower.as_bytes())
                    }
                    _ => hash_bytes(token.as_bytes()),
                }
            };
            assert_eq!(places.iter().map(of).collect::<Vec<_>>(), hashes, "{tokenizer:?} of {text:?}");
        }
    }

    proptest! {
        #[test]
        fn places_of_ascii(texts in prop::collection::vec("[a-zA-Z0-9]{0,99}[ -/_]{0,9}", 0..60)) {
            check(&texts.concat());
        }

        #[test]
        fn places_are_those_of_the_tokens(text in "\\PC*|[a-cA-C ._漢字か\n\u{301}\u{93f}\u{e34}\u{ad}\u{200b}ςก]{0,40}|[ .!\u{ad}😂]{0,9}") {
            check(&text);
        }
    }

    #[test]
    fn places_of_odd_texts() {
        for text in [
            "",
            "  ",
            " a\u{301}b  C ",
            "漢\u{301}字a1",
            "\u{e31}a1 \u{e31}ก",
            "ก\u{e31}a",
            "\u{93f}a",
            "a_b",
        ] {
            check(text);
        }
    }
}
