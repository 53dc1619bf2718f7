//! Feature codes (Guo et al., section III.A; docs/design/algorithms.md section 7): a short string
//! of characters that are taken from a text. The string stays the same if little of the text
//! changes.
//!
//! The *anchored code* of a text consists of the characters left and right of every punctuation
//! mark. The code of a document is the anchored code of its long paragraphs. If it has only short
//! paragraphs, but many of them, the code consists of the first and the last character of its first
//! and of its last paragraphs. If it has only a few short paragraphs, the code is the anchored code
//! of the whole text.
//!
//! ```
//! use neardup_core::Stop;
//! use neardup_core::parameters::CodeSpec;
//! use neardup_core::sketch::feature_code;
//!
//! let text = "系统采用的特征码提取算法是基于语法获取特征的方法。这种方法将网页内容看成字符流，以一些标点符号和\
//!             常用汉字作为锚点，从网页内容中抽取文字作为网页特征码。";
//! assert_eq!(feature_code(text, &CodeSpec::default(), &Stop::default())?, "系法这流以点从码");
//! # Ok::<(), neardup_core::Error>(())
//! ```

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;
use crate::text::characters::is_unseen;
use crate::text::paragraphs::for_each_paragraph;

const DOING: &str = "making a feature code";

/// The parameters of codes. The defaults are those of Guo et al. where the paper gives them.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::parameters::CodeSpec;
/// use neardup_core::sketch::feature_code;
///
/// let spec = CodeSpec { anchors: vec!['的'], min_length: 1, ..CodeSpec::default() };
/// assert_eq!(feature_code("甲乙的丙丁", &spec, &Stop::default())?, "甲乙丙丁");
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CodeSpec {
    /// The characters that are anchors in addition to the punctuation marks.
    pub anchors: Vec<char>,
    /// The number of characters at the start of a document that are read, 1 to
    /// [`CodeSpec::LONGEST_CUT`].
    pub cut: usize,
    /// A paragraph of at least this many characters is an extraction unit.
    pub unit_length: usize,
    /// A paragraph that has at least this share of the text, in (0, 1], is an extraction unit, too.
    pub unit_share: f64,
    /// If there is no extraction unit, and there are at least this many paragraphs, the ends of
    /// some paragraphs represent the whole text.
    pub paragraphs: usize,
    /// The number of paragraphs at the start of the text, and likewise at its end, whose first and
    /// last characters are used.
    pub ends: usize,
    /// The least length of a code; a shorter code is not used.
    pub min_length: usize,
    /// A code that is too short is replaced by this many visible characters from the start of the
    /// text.
    pub fallback: usize,
}

impl Default for CodeSpec {
    fn default() -> Self {
        Self {
            anchors: Vec::new(),
            cut: 1000,
            unit_length: 300,
            unit_share: 0.75,
            paragraphs: 10,
            ends: 10,
            min_length: 6,
            fallback: 20,
        }
    }
}

impl CodeSpec {
    /// The greatest number of characters that may be read.
    ///
    /// ```
    /// assert_eq!(neardup_core::parameters::CodeSpec::LONGEST_CUT, 1_000_000);
    /// ```
    pub const LONGEST_CUT: usize = 1_000_000;

    /// Checks parameters from a user.
    ///
    /// Fails for values outside their ranges.
    ///
    /// ```
    /// use neardup_core::parameters::CodeSpec;
    ///
    /// assert!(CodeSpec::default().check().is_ok());
    /// assert!(CodeSpec { cut: 0, ..CodeSpec::default() }.check().is_err());
    /// ```
    pub fn check(&self) -> Result<()> {
        let bad = |name, value: String, allowed| Err(Error::Parameter { name, value, allowed });
        let cut = 1..=Self::LONGEST_CUT;
        if !cut.contains(&self.cut) {
            return bad("cut", self.cut.to_string(), "between 1 and 1000000");
        }
        if !(self.unit_share > 0.0 && self.unit_share <= 1.0) {
            return bad("unit_share", self.unit_share.to_string(), "above 0 and at most 1");
        }
        for (name, value) in [("ends", self.ends), ("fallback", self.fallback)] {
            if !cut.contains(&value) {
                return bad(name, value.to_string(), "between 1 and 1000000");
            }
        }
        Ok(())
    }

    fn is_anchor(&self, c: char) -> bool {
        const MARKS: [char; 13] = ['，', '。', '？', '！', '；', '：', '、', ',', '.', '?', '!', ';', ':'];
        MARKS.contains(&c) || self.anchors.contains(&c)
    }
}

/// Returns the code of a document. It is empty only if the part that is read has nothing but white
/// space and control characters. O(characters read).
///
/// Fails only if memory is short, and after a request to stop.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::parameters::CodeSpec;
/// use neardup_core::sketch::feature_code;
///
/// // The characters beside each punctuation mark; two characters at each end.
/// let text = "系统采用的特征码，是基于语法。这种方法、将网页。";
/// assert_eq!(feature_code(text, &CodeSpec::default(), &Stop::default())?, "系码是法这法将页");
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn feature_code(text: &str, spec: &CodeSpec, stop: &Stop) -> Result<String> {
    let cut = text.char_indices().nth(spec.cut).map_or(text, |(end, _)| &text[..end]);
    // The visible characters of all paragraphs, concatenated.
    let mut seen = String::new();
    memory::reserve_text(&mut seen, cut.len(), DOING)?;
    let mut all = 0;
    // For each paragraph, its end in `seen` and the number of its visible characters.
    let mut paragraphs: Vec<(usize, usize)> = Vec::new();
    for_each_paragraph(cut, stop, |span| {
        let mut length = 0;
        for c in span.slice(cut).chars().filter(|&c| is_visible(c)) {
            seen.push(c);
            length += 1;
        }
        all += length;
        if length > 0 { memory::push(&mut paragraphs, (seen.len(), length), DOING) } else { Ok(()) }
    })?;
    let texts = || {
        let starts = [0].into_iter().chain(paragraphs.iter().map(|(end, _)| *end));
        starts.zip(&paragraphs).map(|(start, &(end, length))| (&seen[start..end], length))
    };
    let is_unit = |length: usize| length >= spec.unit_length || length as f64 / all as f64 >= spec.unit_share;
    let mut code = String::new();
    if paragraphs.iter().any(|&(_, length)| is_unit(length)) {
        for (paragraph, _) in texts().filter(|&(_, length)| is_unit(length)) {
            anchored(paragraph, spec, &mut code)?;
        }
    } else if paragraphs.len() >= spec.paragraphs {
        let behind = paragraphs.len().saturating_sub(spec.ends);
        for (n, (paragraph, _)) in texts().enumerate() {
            if n < spec.ends || n >= behind {
                ends(paragraph.trim_matches(|c| spec.is_anchor(c)), false, &mut code)?;
            }
        }
    } else {
        anchored(&seen, spec, &mut code)?;
    }
    if code.chars().take(spec.min_length).count() < spec.min_length {
        code.clear();
        code.extend(seen.chars().take(spec.fallback));
    }
    Ok(code)
}

/// Reports whether a character is visible: neither white space nor a control or format character.
fn is_visible(c: char) -> bool {
    !is_unseen(c)
}

/// Appends the anchored code of a text. The start and the end of the text are anchors, too, so the
/// code is the first and the last character of every run without an anchor.
fn anchored(text: &str, spec: &CodeSpec, code: &mut String) -> Result<()> {
    text.split(|c| spec.is_anchor(c)).try_for_each(|run| ends(run, true, code))
}

/// Appends the first and the last character of a text. A single character is appended twice if
/// `twice`, else once.
fn ends(text: &str, twice: bool, code: &mut String) -> Result<()> {
    memory::reserve_text(code, 2 * char::MAX.len_utf8(), DOING)?;
    let mut chars = text.chars();
    let first = chars.next();
    let last = chars.next_back().or(first.filter(|_| twice));
    code.extend(first.into_iter().chain(last));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(text: &str, spec: &CodeSpec) -> String {
        feature_code(text, spec, &Stop::default()).expect("not stopped")
    }

    #[test]
    fn the_three_cases() {
        let spec = CodeSpec { unit_length: 12, paragraphs: 3, ends: 1, min_length: 1, ..CodeSpec::default() };
        // Among short paragraphs, one is a unit because of its length. The second check has an
        // extra anchor.
        let text = "短一。\n这一段比较长，所以是一个单元。\n短二。\n短三。";
        assert_eq!(code(text, &spec), "这长所元");
        let own = CodeSpec { anchors: vec!['一'], ..spec.clone() };
        assert_eq!(code(text, &own), "这这段长所是个元");
        // A paragraph is a unit because of its share of the text.
        let spec = CodeSpec { unit_length: 300, ..spec };
        assert_eq!(code("甲乙丙，丁戊己庚辛壬癸\n子。", &spec), "甲丙丁癸");
        // There is no unit: the code is the ends of paragraphs, without punctuation marks.
        assert_eq!(code("“甲乙”。\n丙，丁！\n戊己", &spec), "“”戊己");
        assert_eq!(code("甲乙。\n丙，丁！\n戊", &spec), "甲乙戊");
        let both = CodeSpec { ends: 2, ..spec.clone() };
        assert_eq!(code("甲乙。\n丙，丁！\n戊", &both), "甲乙丙丁戊");
        // There is no unit and there are few paragraphs: the code is the anchored code of the whole
        // text.
        assert_eq!(code("甲乙。丙\n丁，戊己", &CodeSpec { paragraphs: 9, ..spec }), "甲乙丙丁戊己");
    }

    #[test]
    fn short_codes_are_replaced() {
        let spec = CodeSpec::default();
        assert_eq!(code("", &spec), "");
        assert_eq!(code(" \u{200b}\n\u{3000}", &spec), "");
        assert_eq!(code("甲乙 丙\u{200b}", &spec), "甲乙丙");
        assert_eq!(code("。。。", &spec), "。。。");
        assert_eq!(code("一二三四五六七八九十一二三四五六七八九十一二三", &spec).chars().count(), 20);
        let cut = CodeSpec { cut: 5, ..spec };
        assert_eq!(code("一二 三四五六", &cut), "一二三四");
    }

    #[test]
    fn parameters_out_of_range() {
        for spec in [
            CodeSpec { cut: 0, ..CodeSpec::default() },
            CodeSpec { cut: 1_000_001, ..CodeSpec::default() },
            CodeSpec { unit_share: 0.0, ..CodeSpec::default() },
            CodeSpec { unit_share: f64::NAN, ..CodeSpec::default() },
            CodeSpec { ends: 0, ..CodeSpec::default() },
            CodeSpec { fallback: 0, ..CodeSpec::default() },
        ] {
            assert!(spec.check().is_err(), "{spec:?}");
        }
    }

    proptest! {
        #[test]
        fn only_text_without_visible_characters_has_no_code(text in "[ab，。\\n 字\u{200b}]{0,40}") {
            let code = code(&text, &CodeSpec::default());
            prop_assert_eq!(code.is_empty(), !text.chars().any(is_visible));
            prop_assert!(code.chars().all(|c| text.contains(c)));
        }
    }
}
