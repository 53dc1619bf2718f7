//! Balls by edit distance. A ball around a text consists of the texts whose edit similarity to it
//! is at least a given value ([`crate::verify::edit`]).
//!
//! | bytes | |
//! | --- | --- |
//! | 0 | version of this format; versions 1 and 2 of a `text_ball` are other formats |
//! | 1 | the form in which texts are compared ([`Normalization`]), or 0 |
//! | 2 | 1 if two neighbours that change places are one edit, or 0 |
//! | 3 to 7 | 0 |
//! | 8 to 15 | the least similarity, a double, little-endian |
//! | from 16 on | the text, in UTF-8 |

use super::ball::{self, HEADER, NAME, bad, head};
use super::json::{JsonReader, JsonWriter};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::normalization::Normalization;
use crate::memory;
use crate::sketches::minhash::check_similarity;
use crate::verify::edit::{self, EditPredicate};
use crate::verify::levenshtein::Pattern;

/// The version of the format in this file.
pub const VERSION: u8 = 3;
/// The name of the method, with which the text form of a ball begins.
pub const METHOD: &str = "edit";
/// How a text form of a ball begins.
const BEGINNING: &str = "<edit:";
/// What stands before the normalization form in the text form of a ball with swaps.
const SWAPS: &str = "damerau:";
const DOING: &str = "making a ball";

/// The texts that are similar to a text by edit distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EditBall<'a> {
    /// The least similarity, in (0, 1].
    pub similarity: f64,
    /// The form in which texts are compared. The text at the centre is in this form already.
    pub normalization: Option<Normalization>,
    /// Whether two neighbouring characters that change places are one edit.
    pub swaps: bool,
    /// The text at the centre.
    pub text: &'a str,
}

impl<'a> EditBall<'a> {
    /// Reports whether bytes are those of such a ball, right or not.
    pub fn is(bytes: &[u8]) -> bool {
        bytes.first() == Some(&VERSION)
    }

    /// Reports whether a text is the text form of such a ball, right or not.
    pub fn is_text(text: &str) -> bool {
        text.trim_start().starts_with(BEGINNING)
    }

    /// Builds the bytes of the ball. Fails for a similarity outside (0, 1].
    pub fn build(&self) -> Result<Vec<u8>> {
        let (form, swaps) = (Normalization::number(self.normalization), self.swaps.into());
        let mut bytes = head([VERSION, form, swaps, 0, 0, 0, 0, 0], self.similarity)?;
        memory::extend(&mut bytes, self.text.as_bytes(), DOING)?;
        Ok(bytes)
    }

    /// Returns the condition that a text in the ball meets.
    pub fn predicate(&self) -> Result<EditPredicate> {
        Ok(EditPredicate::new(self.similarity)?.with_swaps(self.swaps))
    }

    /// Describes the texts that are compared, and their edits if they are special, for messages.
    pub fn describe(&self) -> String {
        let texts = Normalization::describe(self.normalization);
        if self.swaps { format!("{texts}, damerau") } else { texts }
    }

    /// Parses a ball. Fails for malformed bytes. O(bytes).
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let Some((&[VERSION, form, swaps @ 0..=1, 0, 0, 0, 0, 0, similarity @ ..], text)) =
            bytes.split_first_chunk::<HEADER>()
        else {
            return Err(bad("its head is not that of a ball by edit distance"));
        };
        let normalization = Normalization::from_number(form)
            .ok_or_else(|| bad(format!("normalization form {form} is not known")))?;
        let similarity = f64::from_le_bytes(similarity);
        check_similarity(similarity).map_err(|error| bad(error.to_string()))?;
        let text = std::str::from_utf8(text).map_err(|_| bad("its document is not UTF-8"))?;
        Ok(Self { similarity, normalization, swaps: swaps == 1, text })
    }

    /// Formats the ball as text: `<edit:0.8:"a text">`. A text is cut off after `most` characters.
    pub fn to_text(&self, most: usize, stop: &Stop) -> Result<String> {
        let form = Normalization::prefix(self.normalization);
        let swaps = if self.swaps { SWAPS } else { "" };
        let mut writer = JsonWriter::new(format!("{BEGINNING}{}:{swaps}{form}", self.similarity), most, stop);
        writer.string(self.text)?;
        writer.finish()
    }

    /// Parses the output of [`EditBall::to_text`] and returns the ball's bytes.
    pub fn from_text(text: &str, stop: &Stop) -> Result<Vec<u8>> {
        let inner = text.trim().strip_prefix(BEGINNING).and_then(|text| text.strip_suffix('>'));
        let Some((similarity, text)) = inner.and_then(|inner| inner.split_once(':')) else {
            return Err(bad("it should be <edit:, a similarity, a colon, a text in quotes, and >"));
        };
        let similarity = similarity.trim().parse().map_err(|_| bad("its similarity is not a number"))?;
        let (swaps, text) = match text.trim_start().strip_prefix(SWAPS) {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (normalization, text) = Normalization::without_prefix(text);
        let ball = Self { similarity, normalization, swaps, text: "" };
        let mut bytes = ball.build().map_err(|error| bad(error.to_string()))?;
        let mut reader = JsonReader::new(text, NAME, stop);
        reader.string(&mut bytes)?;
        reader.end()?;
        Ok(bytes)
    }
}

/// Compares texts with the centre of a ball. The result is the same as in a join by edit distance.
#[derive(Debug)]
pub struct EditVerifier {
    predicate: EditPredicate,
    pattern: Pattern,
    characters: u32,
}

impl EditVerifier {
    /// Prepares the comparison. O(bytes).
    pub fn new(ball: &EditBall<'_>) -> Result<Self> {
        let mut pattern = Pattern::default();
        pattern.set(ball.text, ball.swaps)?;
        let predicate = ball.predicate()?;
        Ok(Self { predicate, pattern, characters: characters(ball.text) })
    }

    /// Returns the similarity of a text to the centre, even if the text is not in the ball.
    pub fn similarity(&mut self, text: &str, stop: &Stop) -> Result<f64> {
        let longer = characters(text).max(self.characters);
        let distance = self.distance(text, longer, stop)?;
        Ok(edit::similarity(distance.unwrap_or(longer), longer))
    }

    /// Returns the similarity of a text if it is in the ball. It takes less time the nearer the
    /// least similarity of the ball is to 1.
    pub fn within(&mut self, text: &str, stop: &Stop) -> Result<Option<f64>> {
        let longer = characters(text).max(self.characters);
        if longer == 0 {
            return Ok(None);
        }
        let distance = self.distance(text, self.predicate.most_distance(longer), stop)?;
        Ok(distance.map(|distance| edit::similarity(distance, longer)))
    }

    fn distance(&mut self, text: &str, most: u32, stop: &Stop) -> Result<Option<u32>> {
        self.pattern.distance(text, characters(text), most, 0, stop)
    }
}

/// Returns the number of characters of a text.
pub fn characters(text: &str) -> u32 {
    // No text of the server has more characters than 32 bits can count.
    text.chars().count() as u32
}

/// Where the least similarity is, in both formats of balls.
const LEAST: std::ops::Range<usize> = 8..HEADER;

/// Returns the least similarity of a ball of sets or of a ball by edit distance, or `None` for
/// other bytes.
pub fn least_of(ball: &[u8]) -> Option<f64> {
    let is_known = matches!(ball.first(), Some(&(ball::VERSION | VERSION)));
    let similarity = ball.get(LEAST).filter(|_| is_known)?;
    Some(f64::from_le_bytes(similarity.try_into().ok()?))
}

/// Returns the bytes of a ball with another least similarity. Fails for one outside (0, 1].
pub fn with_least(ball: &[u8], least: f64) -> Result<Vec<u8>> {
    check_similarity(least)?;
    let mut bytes = Vec::new();
    memory::extend(&mut bytes, ball, "making a ball")?;
    if let Some(similarity) = bytes.get_mut(LEAST) {
        similarity.copy_from_slice(&least.to_le_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureSpec;
    use crate::features::origin::Origin;
    use crate::features::tokens::Document;
    use crate::search::json::{SHOWN, WHOLE};
    use crate::verify::measure::Measure;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn balls_are_read_as_they_were_made(text in ".{0,60}|[\\x00-\\x40\\\\\"]{0,12}", similarity in 0.001..=1.0_f64, form in 0..3_u8, swaps: bool) {
            let (stop, normalization) = (Stop::default(), Normalization::from_number(form).unwrap());
            let made = EditBall { similarity, normalization, swaps, text: &text };
            let bytes = made.build().unwrap();
            let ball = EditBall::parse(&bytes).unwrap();
            prop_assert_eq!(ball, made);
            let shown = ball.to_text(WHOLE, &stop).unwrap();
            prop_assert!(EditBall::is(&bytes) && EditBall::is_text(&shown));
            prop_assert_eq!(&EditBall::from_text(&shown, &stop).unwrap(), &bytes);
            prop_assert!(ball.to_text(SHOWN, &stop).unwrap().chars().count() < 400 + SHOWN);
        }

        #[test]
        fn any_bytes_and_any_text(bytes in prop::collection::vec(any::<u8>(), 0..40), text in "<edit:[0-9.]{0,4}:(damerau:)?(nfk?c:)?.{0,20}") {
            let mut bytes = bytes;
            if let Some(head) = bytes.get_mut(..8) {
                head.copy_from_slice(&[VERSION, 0, 0, 0, 0, 0, 0, 0]);
            }
            let stop = Stop::default();
            if let Ok(ball) = EditBall::parse(&bytes) {
                prop_assert_eq!(EditBall::from_text(&ball.to_text(WHOLE, &stop).unwrap(), &stop).unwrap(), bytes);
            }
            if let Ok(bytes) = EditBall::from_text(&text, &stop) {
                prop_assert!(EditBall::parse(&bytes).is_ok());
            }
        }

        #[test]
        fn rows_are_compared_as_by_the_naive_distance(a in "[ab ]{0,9}", b in "[abc ]{0,9}", similarity in 0.01..=1.0_f64, swaps: bool) {
            let stop = Stop::default();
            let bytes = EditBall { similarity, normalization: None, swaps, text: &a }.build().unwrap();
            let mut verifier = EditVerifier::new(&EditBall::parse(&bytes).unwrap()).unwrap();
            let (distance, longer) = edit::distance_by(&a, &b, swaps, &stop).unwrap();
            let expected = edit::similarity(distance, longer);
            prop_assert_eq!(verifier.similarity(&b, &stop).unwrap(), expected);
            prop_assert_eq!(verifier.within(&b, &stop).unwrap(), Some(expected).filter(|&found| found >= similarity));
        }
    }

    #[test]
    fn balls_stay_as_they_are() {
        let of = |text| EditBall { similarity: 0.8, normalization: None, swaps: false, text };
        let bytes = of("a\"").build().unwrap();
        assert_eq!(bytes, [&[3, 0, 0, 0, 0, 0, 0, 0][..], &0.8_f64.to_le_bytes(), b"a\""].concat());
        let ball = EditBall::parse(&bytes).unwrap();
        assert_eq!(ball.to_text(WHOLE, &Stop::default()).unwrap(), r#"<edit:0.8:"a\"">"#);
        let changed = |at: usize, with: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = with;
            EditBall::parse(&bytes).is_err()
        };
        assert!(changed(0, 2) && changed(1, 3) && changed(2, 2) && changed(7, 1));
        assert!(changed(15, 0xff) && changed(16, 0xff));
        assert!(
            [0.0, 1.5]
                .map(|similarity| EditBall { similarity, ..of("a") }.build())
                .iter()
                .all(Result::is_err)
        );
        for (swaps, head, expected) in [
            (false, [3, 2, 0], r#"<edit:0.8:nfkc:"a">"#),
            (true, [3, 2, 1], r#"<edit:0.8:damerau:nfkc:"a">"#),
        ] {
            let ball = EditBall { normalization: Some(Normalization::Nfkc), swaps, ..of("a") };
            assert_eq!(ball.build().unwrap()[..3], head);
            assert_eq!(ball.to_text(WHOLE, &Stop::default()).unwrap(), expected);
        }
        assert!(EditBall::from_text("<edit:0.8:\"a\"> x", &Stop::default()).is_err());
    }

    #[test]
    fn a_ball_of_another_size_is_the_one_that_is_built_so() {
        let parameters = ball::SetParameters {
            measure: Measure::Dice,
            origin: Origin::Words,
            features: FeatureSpec::WORDS,
            normalization: None,
            weights: None,
        };
        let of_sets =
            |least| ball::SetBall::build(&parameters, least, &Document::Text("a b".into())).unwrap();
        let by_edits = |similarity| {
            EditBall { similarity, normalization: None, swaps: true, text: "a b" }.build().unwrap()
        };
        for build in [&of_sets as &dyn Fn(f64) -> Vec<u8>, &by_edits] {
            assert_eq!(least_of(&build(0.3)), Some(0.3));
            assert_eq!(with_least(&build(0.3), 0.75).unwrap(), build(0.75));
            assert!(with_least(&build(0.3), 1.5).is_err());
        }
        assert_eq!((least_of(b""), least_of(&[9; 40])), (None, None));
    }
}
