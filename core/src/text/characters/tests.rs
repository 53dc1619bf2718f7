use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};
use unicode_width::UnicodeWidthChar;

use super::*;
use crate::hash::hash_bytes;

/// Returns the number of the characters of a class and a hash of their list.
fn golden(is: impl Fn(char) -> bool) -> (usize, u64) {
    let all: Vec<char> = ('\0'..=char::MAX).filter(|&c| is(c)).collect();
    let bytes: Vec<u8> = all.iter().flat_map(|&c| (c as u32).to_le_bytes()).collect();
    (all.len(), hash_bytes(&bytes))
}

/// Stored data was cut by this table: if a character gets another class or another lower case,
/// [`crate::text::VERSION`] must grow. The numbers and hashes cover all code points, whether
/// Unicode assigns them or not.
#[test]
fn golden_classes() {
    assert_eq!((crate::text::VERSION, UNICODE), (1, "17.0.0"));
    let classes = [
        WordClass::Separator,
        WordClass::Unseen,
        WordClass::Alphanumeric,
        WordClass::Alone,
        WordClass::Mark,
        WordClass::AlphabeticMark,
    ];
    let expected = [
        (961_638, 3_933_594_487_811_346_451),
        (157, 5_462_465_066_587_712_852),
        (43_764, 14_477_186_878_948_500_577),
        (103_962, 17_605_301_814_741_554_197),
        (1_163, 3_945_942_853_198_100_660),
        (1_380, 2_829_175_082_330_970_297),
    ];
    assert_eq!(classes.map(|of| golden(|c| class(c) == of)), expected);
    let lowered: Vec<u8> = ('\0'..=char::MAX).flat_map(|c| (lower(c) as u32).to_le_bytes()).collect();
    assert_eq!((golden(|c| lower(c) != c).0, hash_bytes(&lowered)), (1_513, 17_105_862_873_419_886_385));
}

/// Sentences, codes, checksums, passages and grams depend on these properties.
#[test]
fn golden_properties() {
    type Property = (&'static str, fn(char) -> bool, (usize, u64));
    let properties: [Property; 9] = [
        ("alphanumeric", is_alphanumeric, (149_106, 6_522_263_460_011_578_815)),
        ("alphabetic", is_alphabetic, (147_421, 12_371_573_610_230_876_907)),
        ("numeric", is_numeric, (1_924, 14_972_069_749_965_869_149)),
        ("uppercase", is_uppercase, (2_006, 8_651_584_689_649_467_464)),
        ("lowercase", is_lowercase, (2_595, 14_847_397_669_969_421_728)),
        ("space", is_space, (25, 16_746_079_077_365_000_129)),
        ("unseen", is_unseen, (254, 5_776_631_934_386_528_336)),
        ("closing", is_closing, (728, 2_682_725_555_812_225_401)),
        ("wide", is_wide, (182_866, 11_008_002_766_433_777_368)),
    ];
    let found = properties.map(|(name, is, _)| (name, golden(is)));
    assert_eq!(found, properties.map(|(name, _, expected)| (name, expected)));
}

/// Returns the properties of a character according to the standard library and the crates of the
/// unicode-rs group, from which the table is made.
fn by_others(c: char) -> Known {
    let category = c.general_category();
    let alphanumeric = c.is_alphanumeric();
    let class = if category == GeneralCategory::Format && !is_prepended(c) {
        WordClass::Unseen
    } else if c.general_category_group() == GeneralCategoryGroup::Mark {
        if alphanumeric { WordClass::AlphabeticMark } else { WordClass::Mark }
    } else if !alphanumeric {
        WordClass::Separator
    } else {
        match c.script() {
            Script::Han
            | Script::Hiragana
            | Script::Katakana
            | Script::Thai
            | Script::Lao
            | Script::Khmer
            | Script::Myanmar => WordClass::Alone,
            _ => WordClass::Alphanumeric,
        }
    };
    let lower = folded(c);
    use GeneralCategory::{ClosePunctuation, Control, FinalPunctuation, Format, OtherPunctuation};
    let kind = [
        (ALPHABETIC, c.is_alphabetic()),
        (NUMERIC, c.is_numeric()),
        (UPPERCASE, c.is_uppercase()),
        (LOWERCASE, c.is_lowercase()),
        (HIDDEN, matches!(category, Control | Format)),
        (CLOSING, matches!(category, ClosePunctuation | FinalPunctuation | OtherPunctuation)),
        (WIDE, c.width().unwrap_or(1) > 1),
    ];
    let kind = kind.iter().filter(|(_, is)| *is).map(|(bit, _)| bit).sum();
    Known { class, lower, kind }
}

/// Reports whether a format character is seen: a sign of the Arabic, Syriac or Kaithi script that
/// comes before the number or word that it marks (Unicode's Prepended_Concatenation_Mark).
fn is_prepended(c: char) -> bool {
    matches!(
        c,
        '\u{600}'
            ..='\u{605}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'
                | '\u{891}'
                | '\u{8e2}'
                | '\u{110bd}'
                | '\u{110cd}'
    )
}

/// Returns the simple case folding of a character (the mappings C and S of Unicode's the file
/// CaseFolding): the lower case of its upper case. Only Cherokee is folded to lower case here, and
/// to upper case there, which makes the same characters equal.
fn folded(c: char) -> char {
    let only = |mut all: std::char::ToUppercase| all.next().filter(|_| all.next().is_none());
    match c {
        // The full lower case of the standard library has a dot above.
        'İ' => 'i',
        // Its upper case is I, but it is another letter than i.
        'ı' => 'ı',
        // These have the same upper case of several characters.
        '\u{1fd3}' => '\u{390}',
        '\u{1fe3}' => '\u{3b0}',
        '\u{fb05}' => '\u{fb06}',
        _ => only(c.to_uppercase()).unwrap_or(c).to_lowercase().next().unwrap_or(c),
    }
}

/// All sources of the table have the same version of Unicode. Cargo.toml and rust-toolchain.toml
/// name these versions.
#[test]
fn one_version_of_unicode_for_all() {
    let of_std = char::UNICODE_VERSION;
    assert_eq!(UNICODE, format!("{}.{}.{}", of_std.0, of_std.1, of_std.2));
    let numbers =
        |(major, minor, patch): (u8, u8, u8)| (u64::from(major), u64::from(minor), u64::from(patch));
    assert_eq!(unicode_properties::UNICODE_VERSION, numbers(of_std));
    assert_eq!(unicode_script::UNICODE_VERSION, numbers(of_std));
    assert_eq!(unicode_width::UNICODE_VERSION, of_std);
}

#[test]
fn the_table_says_what_it_was_made_of() {
    for c in '\0'..=char::MAX {
        assert_eq!(known(c), by_others(c), "{c:?}");
        assert_eq!(is_space(c), c.is_whitespace(), "{c:?}");
        let letter = !matches!(class(c), WordClass::Separator | WordClass::Unseen | WordClass::Mark);
        assert_eq!(is_alphanumeric(c), letter, "{c:?}");
    }
}

/// Unicode 18 adds 37 combining marks. They are unassigned in version 17 and separate words.
#[test]
fn marks_of_a_later_version_separate() {
    let marks = [
        0x5c8..=0x5c9,
        0xb53..=0xb54,
        0x1ade..=0x1adf,
        0x1aec..=0x1af0,
        0x10ecb..=0x10ecf,
        0x10ef0..=0x10ef9,
        0x11df0..=0x11df0,
        0x1d127..=0x1d128,
        0x1d250..=0x1d252,
        0x1d25b..=0x1d25c,
        0x1d25f..=0x1d25f,
        0x1d280..=0x1d281,
    ];
    let marks = marks.into_iter().flatten().filter_map(char::from_u32);
    assert_eq!(marks.filter(|&c| class(c) == WordClass::Separator).count(), 37);
}

/// The table is what is made here. For another version of the rules, new numbers in the tests
/// above, [`UNICODE`] and a new [`crate::text::VERSION`] must go with it:
///
/// ```sh
/// cargo test -p neardup-core --lib the_table_is_what_is_made \
///     | sed -n '/^\/\/! What/,/^END/p' | sed '$d'
/// ```
#[test]
fn the_table_is_what_is_made() {
    let made = source();
    assert!(made == include_str!("tables.rs"), "tables.rs has to be\n{made}END");
}

/// Returns the source of the table.
fn source() -> String {
    let of = |code: u32| char::from_u32(code).map_or(by_others('\u{e000}'), by_others);
    let pair = |code| (of(code).class, of(code).kind);
    let mut kinds: Vec<(WordClass, ClassBits)> = Vec::new();
    let mut number = |kind| {
        let place = kinds.iter().position(|other| *other == kind);
        place.unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        })
    };
    number(pair(0xe000));
    let mut runs = Vec::new();
    let mut first = 0;
    while first <= char::MAX as u32 {
        let two = [pair(first), pair(first + 1)];
        let end = (first..=char::MAX as u32).find(|code| pair(*code) != two[(code - first) as usize % 2]);
        runs.push(format!("(0x{first:x}, {:?})", two.map(&mut number)));
        first = end.unwrap_or(u32::MAX);
    }
    let mut lowered: Vec<(u32, u32, u32, i32)> = Vec::new();
    for c in ('\0'..=char::MAX).filter(|c| of(*c as u32).lower != *c) {
        let by = of(c as u32).lower as i32 - c as i32;
        match lowered.last_mut() {
            Some((first, last, step, same))
                if *same == by && c as u32 - *last <= 2 && (first == last || c as u32 - *last == *step) =>
            {
                (*step, *last) = (c as u32 - *last, c as u32);
            }
            _ => lowered.push((c as u32, c as u32, 1, by)),
        }
    }
    let lowered: Vec<String> = (lowered.iter())
        .map(|(first, last, step, by)| format!("(0x{first:x}, 0x{last:x}, {step}, {by})"))
        .collect();
    let kinds: Vec<String> =
        kinds.iter().map(|(class, kind)| format!("(WordClass::{class:?}, {kind})")).collect();
    let rows = |items: &[String]| {
        let mut rows = String::new();
        let mut row = String::new();
        for item in items {
            if row.len() + item.len() > 150 {
                rows.push_str(&format!("   {row}\n"));
                row.clear();
            }
            row.push_str(&format!(" {item},"));
        }
        format!("{rows}   {row}")
    };
    let mut source = String::new();
    let mut constant = |doc: &str, name: &str, of: &str, items: &[String]| {
        source.push_str(&format!(
            "\n{doc}\n#[rustfmt::skip]\npub(super) const {name}: &[{of}] = &[\n{}\n];\n",
            rows(items)
        ));
    };
    constant(
        "/// What there are of characters; first what Unicode does not know.",
        "KINDS",
        "(WordClass, ClassBits)",
        &kinds,
    );
    constant(
        "/// From each code point on, up to the next one here: which of the kinds it and every second one\n\
         /// after it is, and which those between them are.",
        "RUNS",
        "(u32, [u8; 2])",
        &runs,
    );
    constant(
        "/// The first and the last of code points that have another case folding, how far one is from the\n\
         /// next, and how far its case folding is from it.",
        "LOWERED",
        "(u32, u32, u32, i32)",
        &lowered,
    );
    format!(
        "//! What characters are, as `tests.rs` beside it has made it; not to be changed by hand.\n\n\
         use super::class::{{ClassBits, WordClass}};\n{source}"
    )
}

#[test]
fn classes_of_scripts() {
    let cases = [
        ('a', WordClass::Alphanumeric),
        ('_', WordClass::Separator),
        ('é', WordClass::Alphanumeric),
        ('½', WordClass::Alphanumeric),
        ('漢', WordClass::Alone),
        ('々', WordClass::Alone),
        ('か', WordClass::Alone),
        ('ก', WordClass::Alone),
        ('한', WordClass::Alphanumeric),
        ('\u{301}', WordClass::Mark),
        ('\u{93f}', WordClass::AlphabeticMark),
        ('。', WordClass::Separator),
        ('\u{10ffff}', WordClass::Separator),
        ('\u{ad}', WordClass::Unseen),
        ('\u{200b}', WordClass::Unseen),
        ('\u{200d}', WordClass::Unseen),
        ('\u{2060}', WordClass::Unseen),
        ('\u{feff}', WordClass::Unseen),
        ('\u{600}', WordClass::Separator),
    ];
    for (c, expected) in cases {
        assert_eq!(class(c), expected, "{c:?}");
    }
}

#[test]
fn case_is_folded_to_one_character() {
    assert_eq!(['İ', 'ı', 'Σ', 'ẞ', 'ǅ', 'K'].map(lower), ['i', 'ı', 'σ', 'ß', 'ǆ', 'k']);
    let folded = ['ς', 'ſ', 'µ', 'ẛ', 'ϐ', 'ϑ', 'ϕ', 'ϖ', 'ϰ', 'ϱ', 'ϵ', '\u{1fbe}', '\u{1c80}', 'ﬅ', 'Ꭰ'];
    let expected = ['σ', 's', 'μ', 'ṡ', 'β', 'θ', 'φ', 'π', 'κ', 'ρ', 'ε', 'ι', 'в', 'ﬆ', 'ꭰ'];
    assert_eq!(folded.map(lower), expected);
    assert!(('\0'..=char::MAX).all(|c| lower(lower(c)) == lower(c)));
    // ASCII is lower-cased without the table.
    assert!(('\0'..='\x7f').all(|c| known(c).lower == c.to_ascii_lowercase()));
}

#[test]
fn widths() {
    assert_eq!(width(""), 0);
    assert_eq!(width("ab\t\n"), 4);
    assert_eq!(width("漢字，。ＡかハÄ"), 15);
    assert_eq!(width("e\u{301}\u{200b}"), 3);
}
