//! Extends passages beyond whole sentences, as far as the texts around them agree character by
//! character.
//!
//! White space is skipped, because a copy may be wrapped at another width, and letters are compared
//! in lower case, as in words. Where the texts differ, a gap may be skipped in either text if it is
//! narrow enough and enough columns agree after it: 8 columns after a gap of one character in both
//! texts together, 12 after two characters, and [`ENOUGH`] after more. Of several possible gaps,
//! the one with the fewest characters is skipped, and among these the one with the fewest
//! characters of the left text. A passage does not end within a word, and does not begin with a
//! punctuation mark that closes the text before it.

use super::Parameters;
use crate::error::Result;
use crate::executor::Stop;
use crate::text::characters::{WordClass, class, is_closing, is_space, lower, width_of};

/// The number of columns that must agree after a gap of more than two characters.
pub const ENOUGH: usize = 16;

/// The greatest number of characters that are read ahead where the texts differ.
const AHEAD: usize = Parameters::WIDEST_GAP as usize + ENOUGH;

/// Returns the number of columns that must agree after a gap of `gap` characters in both texts
/// together.
fn enough(gap: usize) -> usize {
    ENOUGH.min(4 + 4 * gap)
}

/// The length of the text by which a passage grows at one end, in bytes and characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GrownLength {
    /// The number of bytes.
    pub bytes: usize,
    /// The number of characters.
    pub chars: usize,
}

/// Returns how far two texts agree from their beginnings on. O(characters) where the texts agree,
/// and O(gap²) for each gap.
pub fn forwards(a: &str, b: &str, gap: u32, stop: &Stop) -> Result<[GrownLength; 2]> {
    grow([a, b].map(TextCursor::<false>::new), gap as usize, |_| true, stop)
}

/// Returns how far two texts agree from their ends backwards.
pub fn backwards(a: &str, b: &str, gap: u32, stop: &Stop) -> Result<[GrownLength; 2]> {
    grow([a, b].map(TextCursor::<true>::new), gap as usize, can_begin, stop)
}

/// A place in a text, stored as its distance from the beginning of the text, or from its end if
/// `BACK`.
#[derive(Clone, Copy)]
struct TextCursor<'t, const BACK: bool> {
    text: &'t str,
    extent: GrownLength,
}

impl<'t, const BACK: bool> TextCursor<'t, BACK> {
    fn new(text: &'t str) -> Self {
        Self { text, extent: GrownLength::default() }
    }

    /// Returns the next character.
    #[inline]
    fn peek(&self) -> Option<char> {
        let (text, passed) = (self.text, self.extent.bytes);
        let left = text.len() - passed;
        let byte = *text.as_bytes().get(if BACK { left.wrapping_sub(1) } else { passed })?;
        if byte.is_ascii() {
            return Some(byte.into());
        }
        if BACK { text[..left].chars().next_back() } else { text[passed..].chars().next() }
    }

    /// Moves past the next character that is not white space, and returns this character in lower
    /// case.
    #[inline]
    fn next(&mut self) -> Option<char> {
        loop {
            let c = self.peek()?;
            self.extent.bytes += c.len_utf8();
            self.extent.chars += 1;
            if !is_space(c) {
                return Some(lower(c));
            }
        }
    }

    /// Reports whether the next character is part of a word.
    fn in_word(&self) -> bool {
        self.peek().is_some_and(is_in_word)
    }

    /// Reads up to `most` of the next characters that are not white space into `into`, in lower
    /// case. Returns the characters read; the place does not change.
    fn look<'s>(&self, most: usize, into: &'s mut [char; AHEAD]) -> &'s [char] {
        let mut ahead = *self;
        let mut count = 0;
        for (place, c) in into[..most].iter_mut().zip(std::iter::from_fn(|| ahead.next())) {
            *place = c;
            count += 1;
        }
        &into[..count]
    }

    /// Returns the `count` bytes that follow the next `from` bytes, in the order of the text, or
    /// `None` if there are fewer.
    #[inline]
    fn bytes(&self, from: usize, count: usize) -> Option<&'t [u8]> {
        let (bytes, passed) = (self.text.as_bytes(), self.extent.bytes + from);
        if !BACK {
            return bytes.get(passed..passed + count);
        }
        let end = bytes.len().checked_sub(passed)?;
        bytes.get(end.checked_sub(count)?..end)
    }

    /// Returns the number of next characters that are ASCII and the same in both texts. The number
    /// is bounded.
    #[inline]
    fn same_ascii(&self, other: &Self) -> usize {
        const BLOCK: usize = 16;
        const MOST: usize = 1 << 12;
        let mut same = 0;
        let are_same = |from, count| {
            let (own, others) = (self.bytes(from, count), other.bytes(from, count));
            own == others && own.is_some_and(<[u8]>::is_ascii)
        };
        while same < MOST && are_same(same, BLOCK) {
            same += BLOCK;
        }
        while same < MOST && are_same(same, 1) {
            same += 1;
        }
        same
    }

    /// Moves past `count` ASCII characters.
    #[inline]
    fn skip(&mut self, count: usize) {
        self.extent.bytes += count;
        self.extent.chars += count;
    }
}

/// Reports whether a character forms words together with its neighbours.
#[inline]
fn is_in_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    !matches!(class(c), WordClass::Separator | WordClass::Alone)
}

/// Reports whether a passage can begin with a character. It cannot begin with a mark that belongs
/// to the words before it.
fn can_begin(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '"' | '\'') || !is_closing(c)
}

fn grow<const BACK: bool>(
    [mut a, mut b]: [TextCursor<'_, BACK>; 2],
    gap: usize,
    can_end: impl Fn(char) -> bool,
    stop: &Stop,
) -> Result<[GrownLength; 2]> {
    const CHECK_EVERY: usize = 1 << 12;
    let gap = gap.min(Parameters::WIDEST_GAP as usize);
    let mut grown = [GrownLength::default(); 2];
    let mut agreed = CHECK_EVERY;
    loop {
        if agreed >= CHECK_EVERY {
            stop.check()?;
            agreed = 0;
        }
        // Text that is equal byte by byte agrees. Of the places in this text where a passage can
        // end, only the last one matters.
        let same = a.same_ascii(&b);
        if same > 0 {
            agreed += same;
            let (from_a, from_b) = (a, b);
            a.skip(same);
            b.skip(same);
            let mut word_follows = a.in_word() || b.in_word();
            for end in (0..same).rev() {
                let byte = from_a.bytes(end, 1).map_or(b' ', |byte| byte[0]);
                let c = char::from(byte.to_ascii_lowercase());
                if !is_space(c) && can_end(c) && !(is_in_word(c) && word_follows) {
                    grown = [from_a, from_b].map(|mut from| {
                        from.skip(end + 1);
                        from.extent
                    });
                    break;
                }
                word_follows = is_in_word(c);
            }
            continue;
        }
        agreed += 1;
        let (mut next_a, mut next_b) = (a, b);
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
        let (mut left, mut right) = (['\0'; AHEAD], ['\0'; AHEAD]);
        let (left, right) = (a.look(gap + ENOUGH, &mut left), b.look(gap + ENOUGH, &mut right));
        let Some([x, y]) = gap_between(left, right, gap) else { return Ok(grown) };
        (0..x).for_each(|_| _ = a.next());
        (0..y).for_each(|_| _ = b.next());
    }
}

/// Returns the number of characters to skip in each text, such that enough of the characters after
/// them agree.
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

    /// The definition: a character at a time.
    fn by_characters(a: &[char], b: &[char], gap: usize, can_end: impl Fn(char) -> bool) -> [usize; 2] {
        let next = |text: &[char], at: usize| {
            (at..text.len()).find(|&n| !text[n].is_whitespace()).map(|n| (lower(text[n]), n + 1))
        };
        let in_word = |text: &[char], at: usize| text.get(at).is_some_and(|&c| is_in_word(c));
        let ahead = |text: &[char], mut at: usize| -> Vec<char> {
            let all = std::iter::from_fn(|| next(text, at).map(|(c, behind)| (at = behind, c).1));
            all.take(gap + ENOUGH).collect()
        };
        let ([mut x, mut y], mut grown) = ([0, 0], [0, 0]);
        while let (Some((c, behind)), Some((other, other_behind))) = (next(a, x), next(b, y)) {
            if c == other {
                [x, y] = [behind, other_behind];
                if can_end(c) && !(is_in_word(c) && (in_word(a, x) || in_word(b, y))) {
                    grown = [x, y];
                }
                continue;
            }
            let Some([more, others]) = gap_between(&ahead(a, x), &ahead(b, y), gap) else { break };
            (0..more).for_each(|_| x = next(a, x).map_or(x, |(_, behind)| behind));
            (0..others).for_each(|_| y = next(b, y).map_or(y, |(_, behind)| behind));
        }
        grown
    }

    proptest! {
        #[test]
        fn equals_the_definition(
            parts in prop::collection::vec(("[ab .,]{0,40}|[aB好\n é]{0,6}", "[ab .好]{0,3}", "[ab .B]{0,3}", prop::bool::weighted(0.3)), 0..8),
            gap in 0..20u32,
        ) {
            let (mut a, mut b) = (String::new(), String::new());
            for (common, of_a, of_b, differ) in &parts {
                a.push_str(common);
                b.push_str(common);
                if *differ {
                    a.push_str(of_a);
                    b.push_str(of_b);
                }
            }
            let [x, y] = [&a, &b].map(|text| text.chars().collect::<Vec<_>>());
            let found = forwards(&a, &b, gap, &Stop::default()).unwrap();
            prop_assert_eq!(found.map(|extent| extent.chars), by_characters(&x, &y, gap as usize, |_| true));
            let [x, y] = [&a, &b].map(|text| text.chars().rev().collect::<Vec<_>>());
            let found = backwards(&a, &b, gap, &Stop::default()).unwrap();
            prop_assert_eq!(found.map(|extent| extent.chars), by_characters(&x, &y, gap as usize, can_begin));
        }

        /// What is taken is the same in both texts but for white space and case, where there are no
        /// gaps.
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
