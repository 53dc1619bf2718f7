//! Reads and writes the JSON of a document in the text form of a ball: a string, a list of strings,
//! or a list of numbers.

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;

const DOING: &str = "writing a ball as text";
/// The number of characters of a document that are shown if none is cut off.
pub const WHOLE: usize = usize::MAX;
/// The number of characters of a document that are shown where the whole document would be too
/// long.
pub const SHOWN: usize = 40;

/// A writer of JSON that stops after a number of characters.
#[derive(Debug)]
pub struct JsonWriter<'a> {
    /// The text written so far.
    text: String,
    /// The number of characters that may still be written; [`WHOLE`] means no limit.
    room: usize,
    /// True if characters were cut off.
    is_cut: bool,
    stop: &'a Stop,
}

impl<'a> JsonWriter<'a> {
    /// Prepares to append at most `most` characters to `text`.
    pub fn new(text: String, most: usize, stop: &'a Stop) -> Self {
        Self { text, room: most, is_cut: false, stop }
    }

    /// Appends characters unchanged.
    pub fn put(&mut self, text: &str) -> Result<()> {
        if self.room == WHOLE {
            memory::reserve_text(&mut self.text, text.len(), DOING)?;
            self.text.push_str(text);
            return Ok(());
        }
        for character in text.chars() {
            if self.room == 0 {
                self.is_cut = true;
                return Ok(());
            }
            self.room -= 1;
            memory::reserve_text(&mut self.text, character.len_utf8(), DOING)?;
            self.text.push(character);
        }
        Ok(())
    }

    /// Appends a string, in quotes.
    pub fn string(&mut self, string: &str) -> Result<()> {
        self.put("\"")?;
        let mut rest = string;
        while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ')
            && !self.is_cut
        {
            self.stop.check()?;
            let (before, after) = rest.split_at(at);
            self.put(before)?;
            // The character to escape is ASCII, so it is one byte.
            let (escaped, after) = after.split_at(1);
            match escaped {
                "\"" => self.put("\\\"")?,
                "\\" => self.put("\\\\")?,
                "\n" => self.put("\\n")?,
                "\r" => self.put("\\r")?,
                "\t" => self.put("\\t")?,
                other => self.put(&format!("\\u{:04x}", other.as_bytes()[0]))?,
            }
            rest = after;
        }
        self.put(rest)?;
        self.put("\"")
    }

    /// Appends a list until it is cut off. `each` writes an item.
    pub fn list<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut each: impl FnMut(&mut Self, T) -> Result<()>,
    ) -> Result<()> {
        self.put("[")?;
        for (n, item) in items.enumerate() {
            self.stop.check()?;
            if self.is_cut {
                return Ok(());
            }
            if n > 0 {
                self.put(",")?;
            }
            each(self, item)?;
        }
        self.put("]")
    }

    /// Ends the value, and returns the text. Three dots say that something was cut off: they are
    /// ASCII, which every encoding has.
    pub fn finish(mut self) -> Result<String> {
        memory::reserve_text(&mut self.text, 4, DOING)?;
        self.text.push_str(if self.is_cut { "...>" } else { ">" });
        Ok(self.text)
    }
}

/// A reader of JSON text.
#[derive(Debug)]
pub struct JsonReader<'a> {
    rest: &'a str,
    /// The name of the type, for error messages.
    what: &'static str,
    stop: &'a Stop,
}

impl<'a> JsonReader<'a> {
    /// Prepares to read `text`.
    pub fn new(text: &'a str, what: &'static str, stop: &'a Stop) -> Self {
        Self { rest: text, what, stop }
    }

    fn bad(&self, why: &str) -> Error {
        Error::Malformed { what: self.what, why: why.to_owned() }
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Skips white space and reads this character if it comes next. Reports whether it was read.
    pub fn takes(&mut self, character: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(character);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Fails unless only white space remains.
    pub fn end(mut self) -> Result<()> {
        self.skip();
        if self.rest.is_empty() { Ok(()) } else { Err(self.bad("something follows its document")) }
    }

    /// Reads a list. `each` reads an item.
    pub fn list(&mut self, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if !self.takes('[') {
            return Err(self.bad("its document should be a list"));
        }
        if self.takes(']') {
            return Ok(());
        }
        loop {
            self.stop.check()?;
            each(self)?;
            if self.takes(']') {
                return Ok(());
            }
            if !self.takes(',') {
                return Err(self.bad("its list has no end"));
            }
        }
    }

    /// Reads a 64-bit integer.
    pub fn number(&mut self) -> Result<i64> {
        self.skip();
        let end = self.rest.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        number.parse().map_err(|_| self.bad("its list should have whole numbers of 64 bits"))
    }

    /// Reads a string and appends its bytes.
    pub fn string(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if !self.takes('"') {
            return Err(self.bad("it should have a string in quotes"));
        }
        loop {
            self.stop.check()?;
            let at = self.rest.find(|c: char| c == '"' || c == '\\' || c < ' ');
            let (before, rest) = self.rest.split_at(at.unwrap_or(self.rest.len()));
            memory::extend(out, before.as_bytes(), DOING)?;
            if let Some(rest) = rest.strip_prefix('"') {
                self.rest = rest;
                return Ok(());
            }
            let escape = rest.strip_prefix('\\').ok_or_else(|| self.bad("a string has no end"))?;
            let mut characters = escape.chars();
            let character = match characters.next() {
                Some(same @ ('"' | '\\' | '/')) => same,
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') => {
                    let (character, rest) = escaped(characters.as_str())
                        .ok_or_else(|| self.bad("a string has a \\u without a character"))?;
                    characters = rest.chars();
                    character
                }
                _ => return Err(self.bad("a string has a \\ with nothing known behind it")),
            };
            memory::extend(out, character.encode_utf8(&mut [0; 4]).as_bytes(), DOING)?;
            self.rest = characters.as_str();
        }
    }
}

/// Reads a character written as four hexadecimal digits, or as two groups of four digits with `\u`
/// between them. Returns the character and the remaining text.
fn escaped(text: &str) -> Option<(char, &str)> {
    let unit = |text: &str| {
        let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(text)?;
    let rest = text.get(4..)?;
    let second = rest.strip_prefix("\\u").and_then(unit);
    match (char::from_u32(first.into()), second) {
        (Some(character), _) => Some((character, rest)),
        (None, Some(second)) => {
            let character = char::decode_utf16([first, second]).next()?.ok()?;
            Some((character, rest.get(6..)?))
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_json_and_read_again(
            strings in proptest::collection::vec(".{0,20}|[\\x00-\\x40\\\\\"]{0,12}", 0..5),
            numbers in proptest::collection::vec(any::<i64>(), 0..5),
            most in 0..40usize,
        ) {
            let stop = &Stop::default();
            let mut writer = JsonWriter::new(String::new(), usize::MAX, stop);
            writer.list(strings.iter(), |writer, string| writer.string(string)).unwrap();
            prop_assert!(!writer.is_cut);
            prop_assert_eq!(&serde_json::from_str::<Vec<String>>(&writer.text).unwrap(), &strings);
            for text in [&writer.text, &serde_json::to_string_pretty(&strings).unwrap()] {
                let (mut reader, mut read) = (JsonReader::new(text, "text_ball", stop), Vec::new());
                reader.list(|reader| {
                    let mut string = Vec::new();
                    reader.string(&mut string)?;
                    read.push(String::from_utf8(string).unwrap());
                    Ok(())
                }).unwrap();
                reader.end().unwrap();
                prop_assert_eq!(&read, &strings);
            }
            let mut short = JsonWriter::new(String::new(), most, stop);
            short.list(strings.iter(), |writer, string| writer.string(string)).unwrap();
            prop_assert_eq!(short.is_cut, writer.text.chars().count() > most);
            prop_assert_eq!(short.text, writer.text.chars().take(most).collect::<String>());

            let text = serde_json::to_string_pretty(&numbers).unwrap();
            let (mut reader, mut read) = (JsonReader::new(&text, "text_ball", stop), Vec::new());
            reader.list(|reader| memory::push(&mut read, reader.number()?, DOING)).unwrap();
            prop_assert_eq!(read, numbers);
        }

        /// Tests that a string is read if and only if it is valid JSON, with the same meaning.
        #[test]
        fn strings_are_read_as_json_has_them(text in "\"(\\\\[a-z\\\\\"/]|\\\\u[0-9a-fD8C]{3,4}|[a-z\u{0}é]){0,6}\"?") {
            let stop = &Stop::default();
            let (mut reader, mut read) = (JsonReader::new(&text, "text_ball", stop), Vec::new());
            let read = reader.string(&mut read).and_then(|()| reader.end()).map(|()| String::from_utf8(read).unwrap());
            prop_assert_eq!(read.ok(), serde_json::from_str::<String>(&text).ok());
        }
    }
}
