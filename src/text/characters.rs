//! What a character is to the word tokeniser, and its simple lower case.

use std::sync::OnceLock;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

/// The part a character plays in a word (docs/design/algorithms.md section 1, *Words*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Ends a word and belongs to none.
    Separator,
    /// A letter or number: part of a run.
    Alphanumeric,
    /// A letter or number of a script that is written without spaces: a word of its own.
    Alone,
    /// A combining mark: belongs to the word before it, else separates.
    Mark,
    /// A combining mark that counts as alphabetic: belongs to the word before it, else begins one.
    AlphabeticMark,
}

/// What is known of a character: its class, and its lower case.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// What it is.
    pub class: Class,
    /// Unicode's simple lower case: always one character.
    pub lower: char,
}

/// What 256 neighbouring characters are.
type Page = [Known; 256];

/// What a character is. That of neighbouring characters is worked out together when the first of them is met, so that a
/// look-up is two loads.
#[inline]
pub fn known(c: char) -> Known {
    static PAGES: [OnceLock<Box<Page>>; 0x1100] = [const { OnceLock::new() }; 0x1100];
    let code = c as usize;
    PAGES[code >> 8].get_or_init(|| page(code & !0xff))[code & 0xff]
}

/// The class of a character.
#[inline]
pub fn class(c: char) -> Class {
    known(c).class
}

/// Unicode's simple lower case: always one character.
#[inline]
pub fn lower(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { known(c).lower }
}

fn page(first: usize) -> Box<Page> {
    let mut page = Box::new([Known { class: Class::Separator, lower: '\0' }; 256]);
    for (n, slot) in page.iter_mut().enumerate() {
        if let Some(c) = u32::try_from(first + n).ok().and_then(char::from_u32) {
            // The full mapping that the standard library has differs from the simple one for this alone.
            let lower = if c == '\u{130}' { 'i' } else { c.to_lowercase().next().unwrap_or(c) };
            *slot = Known { class: classify(c), lower };
        }
    }
    page
}

fn classify(c: char) -> Class {
    if c.general_category_group() == GeneralCategoryGroup::Mark {
        return if c.is_alphanumeric() { Class::AlphabeticMark } else { Class::Mark };
    }
    if !c.is_alphanumeric() {
        return Class::Separator;
    }
    match c.script() {
        Script::Han
        | Script::Hiragana
        | Script::Katakana
        | Script::Thai
        | Script::Lao
        | Script::Khmer
        | Script::Myanmar => Class::Alone,
        _ => Class::Alphanumeric,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is stored was cut by these tables: where one character that Unicode has today gets another class or another
    /// lower case, by a newer compiler or crate or by hand, [`crate::text::VERSION`] must grow. Characters that Unicode adds
    /// do not count: no text of before has them.
    #[test]
    fn golden_tables() {
        use unicode_properties::GeneralCategory::{PrivateUse, Surrogate, Unassigned};
        let known = ('\0'..=char::MAX)
            .filter(|c| !matches!(c.general_category(), Unassigned | PrivateUse | Surrogate));
        let mut bytes = Vec::new();
        let mut count = 0;
        for c in known {
            bytes.extend((c as u32).to_le_bytes());
            bytes.extend((lower(c) as u32).to_le_bytes());
            bytes.push(class(c) as u8);
            count += 1;
        }
        assert_eq!(
            (crate::text::VERSION, count, crate::hash::hash_bytes(&bytes)),
            (1, 172_873, 12_148_140_845_922_592_033)
        );
    }

    #[test]
    fn classes_of_scripts() {
        let cases = [
            ('a', Class::Alphanumeric),
            ('_', Class::Separator),
            ('é', Class::Alphanumeric),
            ('½', Class::Alphanumeric),
            ('漢', Class::Alone),
            ('々', Class::Alone),
            ('か', Class::Alone),
            ('ก', Class::Alone),
            ('한', Class::Alphanumeric),
            ('\u{301}', Class::Mark),
            ('\u{93f}', Class::AlphabeticMark),
            ('。', Class::Separator),
            ('\u{10ffff}', Class::Separator),
        ];
        for (c, expected) in cases {
            assert_eq!(class(c), expected, "{c:?}");
        }
    }

    #[test]
    fn lower_case_is_one_character() {
        assert_eq!(['İ', 'Σ', 'ẞ', 'ǅ', 'K'].map(lower), ['i', 'σ', 'ß', 'ǆ', 'k']);
        let all = (0..=0x10ffff).filter_map(char::from_u32);
        for c in all.filter(|&c| c != '\u{130}') {
            assert_eq!(c.to_lowercase().count(), 1, "{c:?}");
        }
    }
}
