//! The normalization forms of Unicode in which texts are compared. The server normalizes texts
//! before they come here; a ball and an index know the form of their texts.

use super::origin::Origin;

/// A normalization form. The numbers of the variants are part of the stored formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Normalization {
    /// Canonical composition.
    Nfc = 1,
    /// Compatibility composition.
    Nfkc = 2,
}

impl Normalization {
    const ALL: [Self; 2] = [Self::Nfc, Self::Nfkc];

    /// Returns the name of the form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nfc => "nfc",
            Self::Nfkc => "nfkc",
        }
    }

    /// Returns the form with this name, in capital or small letters.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name().eq_ignore_ascii_case(name))
    }

    /// Returns the number of a form in the stored formats. Texts as they are have the number 0.
    pub fn number(form: Option<Self>) -> u8 {
        form.map_or(0, |form| form as u8)
    }

    /// Returns the form with this number, or `None` if there is no such number.
    pub fn from_number(number: u8) -> Option<Option<Self>> {
        match number {
            0 => Some(None),
            _ => Self::ALL.into_iter().find(|&form| form as u8 == number).map(Some),
        }
    }

    /// Reports whether documents of an origin can be compared in a form: only plain texts can. That
    /// of an HTML page could change its markup.
    pub fn fits(form: Option<Self>, origin: Origin) -> bool {
        form.is_none() || matches!(origin, Origin::Words | Origin::Chars | Origin::Whitespace)
    }

    /// Returns what stands before a text in the text form of a ball: nothing, or `nfkc:`.
    pub fn prefix(form: Option<Self>) -> String {
        form.map_or_else(String::new, |form| format!("{}:", form.name()))
    }

    /// Takes a prefix off the text form of a text, which itself begins with a quotation mark.
    pub fn without_prefix(text: &str) -> (Option<Self>, &str) {
        let found = text.split_once(':').and_then(|(name, rest)| Some((Self::from_name(name.trim())?, rest)));
        found.map_or((None, text), |(form, rest)| (Some(form), rest))
    }

    /// Describes the texts that are compared, for messages.
    pub fn describe(form: Option<Self>) -> String {
        form.map_or_else(|| "texts as they are".to_owned(), |form| format!("texts in {}", form.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_numbers_and_names() {
        for (number, form, prefix) in
            [(0, None, ""), (1, Some(Normalization::Nfc), "nfc:"), (2, Some(Normalization::Nfkc), "nfkc:")]
        {
            assert_eq!(
                (Normalization::number(form), Normalization::from_number(number)),
                (number, Some(form))
            );
            assert_eq!(Normalization::prefix(form), prefix);
            assert_eq!(Normalization::without_prefix(&format!("{prefix}\"a:b\"")), (form, "\"a:b\""));
        }
        assert_eq!((Normalization::from_number(3), Normalization::from_name("nfd")), (None, None));
        let fits = Normalization::fits;
        assert!(fits(None, Origin::Html) && fits(Some(Normalization::Nfc), Origin::Chars));
        assert!(!fits(Some(Normalization::Nfc), Origin::Html));
        assert_eq!(Normalization::from_name("NfKC"), Some(Normalization::Nfkc));
    }
}
