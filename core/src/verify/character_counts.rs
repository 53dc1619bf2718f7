//! How often the characters of a text occur, in classes, as a bound of edit distance.
//!
//! An edit adds a character, takes one away, or replaces one by another. So two texts are at least
//! as far apart as the number of characters that one has and the other lacks (Kahveci, Singh, VLDB
//! 2001: the frequency distance). This holds for classes of characters, too, and for counts that
//! stop at a limit.

/// The number of classes.
const CLASSES: usize = 32;
/// The greatest count, which stands for all greater ones as well.
const MOST: u8 = 15;

/// The class of each ASCII character. Frequent letters have a class of their own. Upper case is
/// like lower case: most texts have few capitals, and those of names are the same ones.
const ASCII: [u8; 128] = {
    const LETTERS: [&[u8]; 24] = [
        b" ", b"eE", b"tT", b"aA", b"oO", b"iI", b"nN", b"sS", b"rR", b"hH", b"lL", b"dD", b"cC", b"uU",
        b"mM", b"fF", b"pP", b"gG", b"wW", b"yY", b"bB", b"vV", b"kKjJ", b"xXqQzZ",
    ];
    let mut classes = [0; 128];
    let mut n = 0;
    while n < 128 {
        classes[n] = (LETTERS.len() + n % 8) as u8;
        n += 1;
    }
    n = 0;
    while n < LETTERS.len() {
        let mut letter = 0;
        while letter < LETTERS[n].len() {
            classes[LETTERS[n][letter] as usize] = n as u8;
            letter += 1;
        }
        n += 1;
    }
    classes
};

/// The counts of a text, two in a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharacterCounts(pub [u8; CLASSES / 2]);

impl CharacterCounts {
    /// The number of bytes.
    pub const SIZE: usize = CLASSES / 2;

    /// Counts the characters of a text. O(bytes).
    pub fn new(text: &str) -> Self {
        let mut counts = [0_u8; CLASSES];
        for character in text.chars() {
            let symbol = u32::from(character);
            let class = match ASCII.get(symbol as usize) {
                Some(&class) => class.into(),
                None => (symbol.wrapping_mul(0x9e37_79b1) >> 27) as usize,
            };
            counts[class] = (counts[class] + 1).min(MOST);
        }
        Self(std::array::from_fn(|n| counts[n] | counts[n + CLASSES / 2] << 4))
    }

    /// Returns a distance that two texts with these counts have at least. `longer` is how many more
    /// characters the text of `self` has than the other one.
    #[inline]
    pub fn least_distance(&self, other: &Self, longer: i64) -> u32 {
        let (mut more, mut less) = (0_u16, 0_u16);
        for (&a, &b) in self.0.iter().zip(&other.0) {
            for (a, b) in [(a & MOST, b & MOST), (a >> 4, b >> 4)] {
                more += u16::from(a.saturating_sub(b));
                less += u16::from(b.saturating_sub(a));
            }
        }
        // What one text has more, minus what it has less, is the difference of the lengths.
        let (more, less) = (i64::from(more), i64::from(less));
        more.max(less).max(more - longer).max(less + longer) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Stop;
    use crate::verify::edit::distance;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::cases::cases(2000))]

        #[test]
        fn bounds_hold(x in "[a-zA-Z0-9 .é字]{0,70}|[ab]{0,40}", y in "[a-zA-Z0-9 .é字]{0,70}|[ab]{0,40}") {
            let (found, _) = distance(&x, &y, &Stop::default()).unwrap();
            let longer = x.chars().count() as i64 - y.chars().count() as i64;
            let [a, b] = [&x, &y].map(|text| CharacterCounts::new(text));
            prop_assert!(a.least_distance(&b, longer) <= found);
            prop_assert!(u64::from(a.least_distance(&b, longer)) >= longer.unsigned_abs());
            prop_assert_eq!(a.least_distance(&b, longer), b.least_distance(&a, -longer));
        }
    }

    #[test]
    fn known_bounds() {
        let bound = |x: &str, y: &str| {
            let longer = x.chars().count() as i64 - y.chars().count() as i64;
            CharacterCounts::new(x).least_distance(&CharacterCounts::new(y), longer)
        };
        assert_eq!((bound("kitten", "sitting"), bound("abc", "cab"), bound("", "")), (3, 0, 0));
        assert_eq!((bound("aaaa", ""), bound(&"a".repeat(99), &"a".repeat(20))), (4, 79));
        assert_eq!(bound("Abc", "aBC"), 0);
    }
}
