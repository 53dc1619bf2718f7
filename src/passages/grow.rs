//! Passages beyond whole sentences: as far as the texts around them agree, character by character.
//!
//! White space is passed over and letters are compared in lower case, as words are: a copy may be wrapped at
//! another width. Where the texts differ, they agree again where enough columns are the same after a gap that is
//! narrow enough on either side: 8 where one character is left out, 12 for two, [`ENOUGH`] for more; of several
//! such places it is the one with the fewest characters left out, then with the fewest of the left text. A passage
//! does not end within a word, and does not begin with a mark that ends what is before it.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::error::Result;
use crate::memory;
use crate::text::characters::{Class, class, lower};
use crate::text::width::width_of;
use crate::workers::Stop;

/// The columns that must agree after a gap of more than two characters.
pub const ENOUGH: usize = 16;

/// The columns that must agree after a gap of `gap` characters of both texts together.
fn enough(gap: usize) -> usize {
    ENOUGH.min(4 + 4 * gap)
}

/// A piece of a text from where a passage ends, in bytes and characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Bytes.
    pub bytes: usize,
    /// Characters.
    pub chars: usize,
}

/// How far two texts agree from their beginnings on. O(characters) where they agree, and O(gap²) at each gap.
pub fn forwards(a: &str, b: &str, gap: u32, stop: &Stop) -> Result<[Extent; 2]> {
    grow(TextCursor::new(a.chars()), TextCursor::new(b.chars()), gap as usize, |_| true, stop)
}

/// How far two texts agree from their ends back.
pub fn backwards(a: &str, b: &str, gap: u32, stop: &Stop) -> Result<[Extent; 2]> {
    grow(TextCursor::new(a.chars().rev()), TextCursor::new(b.chars().rev()), gap as usize, can_begin, stop)
}

/// A place in a text, and how far it is from where it began.
#[derive(Clone)]
struct TextCursor<I> {
    chars: I,
    extent: Extent,
}

impl<I: Iterator<Item = char> + Clone> TextCursor<I> {
    fn new(chars: I) -> Self {
        Self { chars, extent: Extent::default() }
    }

    /// Goes on after the next character that is no white space; gives it in lower case.
    fn next(&mut self) -> Option<char> {
        loop {
            let c = self.chars.next()?;
            self.extent.bytes += c.len_utf8();
            self.extent.chars += 1;
            if !c.is_whitespace() {
                return Some(lower(c));
            }
        }
    }

    /// Whether a word goes on here.
    fn in_word(&self) -> bool {
        self.chars.clone().next().is_some_and(is_in_word)
    }

    /// Fills in the next characters, at most `most`.
    fn look(&self, most: usize, into: &mut Vec<char>) -> Result<()> {
        into.clear();
        let mut ahead = self.clone();
        memory::reserve(into, most, "comparing passages")?;
        into.extend(std::iter::from_fn(|| ahead.next()).take(most));
        Ok(())
    }
}

/// Whether a character is one of those that make a word together.
fn is_in_word(c: char) -> bool {
    !matches!(class(c), Class::Separator | Class::Alone)
}

/// Whether a passage can begin with a character: not with what belongs to the words before it.
fn can_begin(c: char) -> bool {
    use GeneralCategory::{ClosePunctuation, FinalPunctuation, OtherPunctuation};
    c.is_ascii_alphanumeric()
        || matches!(c, '"' | '\'')
        || !matches!(c.general_category(), ClosePunctuation | FinalPunctuation | OtherPunctuation)
}

fn grow<I, J>(
    mut a: TextCursor<I>,
    mut b: TextCursor<J>,
    gap: usize,
    can_end: impl Fn(char) -> bool,
    stop: &Stop,
) -> Result<[Extent; 2]>
where
    I: Iterator<Item = char> + Clone,
    J: Iterator<Item = char> + Clone,
{
    const CHECK_EVERY: usize = 1 << 12;
    let mut grown = [Extent::default(); 2];
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut agreed = 0usize;
    loop {
        if agreed.is_multiple_of(CHECK_EVERY) {
            stop.check()?;
        }
        agreed += 1;
        let (mut next_a, mut next_b) = (a.clone(), b.clone());
        let (Some(c), Some(other)) = (next_a.next(), next_b.next()) else { return Ok(grown) };
        if c == other {
            (a, b) = (next_a, next_b);
            if can_end(c) && !(is_in_word(c) && (a.in_word() || b.in_word())) {
                grown = [a.extent, b.extent];
            }
            continue;
        }
        if gap == 0 {
            return Ok(grown);
        }
        stop.check()?;
        a.look(gap + ENOUGH, &mut left)?;
        b.look(gap + ENOUGH, &mut right)?;
        let Some([x, y]) = gap_between(&left, &right, gap) else { return Ok(grown) };
        (0..x).for_each(|_| _ = a.next());
        (0..y).for_each(|_| _ = b.next());
    }
}

/// How many characters to leave out on both sides, so that enough of those after them agree.
fn gap_between(left: &[char], right: &[char], gap: usize) -> Option<[usize; 2]> {
    let agree = |x: usize, y: usize| {
        let same = left.iter().skip(x).zip(right.iter().skip(y)).take_while(|(c, d)| c == d);
        let mut columns = 0;
        same.map(|(&c, _)| width_of(c)).any(|width| {
            columns += width;
            columns >= enough(x + y)
        })
    };
    (1..=2 * gap).find_map(|all| {
        let of_left = all.saturating_sub(gap)..=all.min(gap);
        of_left.map(|x| [x, all - x]).find(|&[x, y]| agree(x, y))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn forth<'t>(a: &'t str, b: &'t str, gap: u32) -> (&'t str, &'t str) {
        let [x, y] = forwards(a, b, gap, &Stop::default()).unwrap();
        assert_eq!((a[..x.bytes].chars().count(), b[..y.bytes].chars().count()), (x.chars, y.chars));
        (&a[..x.bytes], &b[..y.bytes])
    }

    fn back<'t>(a: &'t str, b: &'t str, gap: u32) -> (&'t str, &'t str) {
        let [x, y] = backwards(a, b, gap, &Stop::default()).unwrap();
        let (x_from, y_from) = (a.len() - x.bytes, b.len() - y.bytes);
        assert_eq!((a[x_from..].chars().count(), b[y_from..].chars().count()), (x.chars, y.chars));
        (&a[x_from..], &b[y_from..])
    }

    #[test]
    fn agreeing_text_is_taken() {
        assert_eq!(forth("", "", 12), ("", ""));
        assert_eq!(forth(" One word more", "\nOne  word less", 12), (" One word", "\nOne  word"));
        assert_eq!(forth(" partly", " parties", 12), ("", ""));
        assert_eq!(forth("。好的，走", "。好的，来", 12), ("。好的，", "。好的，"));
        assert_eq!(
            back("not over the hill. ", "but over\n the hill.", 0),
            ("over the hill. ", "over\n the hill.")
        );
        assert_eq!(back("新的\u{3000}好雨", "旧的好\n雨", 0), ("的\u{3000}好雨", "的好\n雨"));
    }

    #[test]
    fn gaps_are_passed_where_much_agrees_behind_them() {
        let (a, b) = (" a new crane was moved to the quay", " a crane was moved to the quay");
        assert_eq!(forth(a, b, 0), (" a", " a"));
        assert_eq!(forth(a, b, 12), (a, b));
        assert_eq!(forth(a, b, 2), (" a", " a"));
        // Too little after it.
        assert_eq!(forth(" a new crane", " a crane", 12), (" a", " a"));
        let (a, b) = ("Nobody here, you will see, was at home. ", "Nobody here you will see was at home.");
        assert_eq!(back(a, b, 1), (a, b));
    }

    proptest! {
        /// What is taken is the same in both texts but for white space and case, where there are no gaps.
        #[test]
        fn without_gaps_both_are_equal(
            common in "[ab B.\n好\u{301}]{0,12}", a in "[ab .好]{0,5}", b in "[ab .好]{0,5}", spaces: bool,
        ) {
            let plain = |text: &str| -> Vec<char> {
                text.chars().filter(|c| !c.is_whitespace()).map(lower).collect()
            };
            let other = if spaces { common.to_uppercase().replace(' ', "\n  ") } else { common.clone() };
            let (x, y) = (format!("{common}{a}"), format!("{other}{b}"));
            let (p, q) = forth(&x, &y, 0);
            prop_assert_eq!(plain(p), plain(q));
            prop_assert!(!p.ends_with(char::is_whitespace) && !q.ends_with(char::is_whitespace));
            let (x, y) = (format!("{a}{common}"), format!("{b}{other}"));
            let (p, q) = back(&x, &y, 0);
            prop_assert_eq!(plain(p), plain(q));
        }

        /// Wider gaps never take less; what they take ends with what agrees.
        #[test]
        fn wider_gaps_take_no_less(a in "[ab.]{0,40}", b in "[ab.]{0,40}", gap in 0..20u32) {
            let (p, _) = forth(&a, &b, gap);
            let (wider, _) = forth(&a, &b, 0);
            prop_assert!(p.len() >= wider.len());
        }
    }
}
