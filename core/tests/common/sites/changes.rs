//! What another site does to an article.

use super::articles::{Article, Language};
use super::random::Random;

/// What was done to an article.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Nothing.
    None,
    /// Words replaced, left out and put in, 2 to 15 of a hundred.
    Edited,
    /// Paragraphs left out from the end; 40 to 80 of a hundred are left.
    Cut,
    /// Paragraphs in another order.
    Moved,
}

impl Change {
    pub const ALL: [Self; 4] = [Self::None, Self::Edited, Self::Cut, Self::Moved];

    /// A third as it is.
    pub fn any(random: &mut Random) -> Self {
        match random.below(100) {
            0..35 => Self::None,
            35..65 => Self::Edited,
            65..85 => Self::Cut,
            _ => Self::Moved,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::None => "as it is",
            Self::Edited => "edited",
            Self::Cut => "cut",
            Self::Moved => "moved",
        }
    }
}

/// The paragraphs of an article after a change, and which change it was: an article with few
/// paragraphs can be edited only.
pub fn change(
    article: &Article,
    change: Change,
    words_of: &[Article],
    random: &mut Random,
) -> (Vec<String>, Change) {
    let all = &article.paragraphs;
    let change = match change {
        Change::Cut | Change::Moved if all.len() < 3 => Change::Edited,
        change => change,
    };
    let join = |sentences: &Vec<String>| match article.language {
        Language::English => sentences.join(" "),
        Language::Chinese => sentences.concat(),
    };
    let mut paragraphs: Vec<String> = all.iter().map(join).collect();
    match change {
        Change::None => {}
        Change::Edited => {
            let percent = 2 + random.below(14);
            paragraphs.iter_mut().for_each(|paragraph| {
                *paragraph = edited(paragraph, article.language, percent, words_of, random);
            });
        }
        Change::Cut => {
            let left = all.len() * (40 + random.below(41)) / 100;
            paragraphs.truncate(left.clamp(1, all.len() - 1));
        }
        Change::Moved => {
            let at = 1 + random.below(all.len() - 1);
            paragraphs.rotate_left(at);
        }
    }
    (paragraphs, change)
}

/// A paragraph in which so many words of a hundred were touched; in Chinese, characters.
fn edited(
    paragraph: &str,
    language: Language,
    percent: usize,
    words_of: &[Article],
    random: &mut Random,
) -> String {
    let split = |text: &str| -> Vec<String> {
        match language {
            Language::English => text.split(' ').map(str::to_owned).collect(),
            Language::Chinese => text.chars().map(String::from).collect(),
        }
    };
    let mut words = Vec::new();
    for word in split(paragraph) {
        if !random.percent(percent) {
            words.push(word);
            continue;
        }
        let other = random.choose(words_of);
        let other = match other.language == language {
            true => random.choose(&split(&other.paragraphs[0][0])).clone(),
            false => word.clone(),
        };
        match random.below(3) {
            0 => words.push(other),
            1 => {}
            _ => words.extend([word, other]),
        }
    }
    match language {
        Language::English => words.join(" "),
        Language::Chinese => words.concat(),
    }
}
