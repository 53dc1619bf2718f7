//! Table I of the paper, of many articles in place of one: what is left of a code after an
//! insertion, a deletion or a change.

use std::path::Path;

use neardup_core::executor::Stop;
use neardup_core::features::codes::{CodeSpec, feature_code};
use neardup_core::hash::mix;
use neardup_core::verify::repeatability::repeatability;

use crate::corpora::on_all;
use crate::elimination::share;
use crate::sites::articles::{self, Language};
use crate::{periods, plot};

/// The short text that the paper puts in place of a paragraph.
const SHORT: &str = "“中国制造”由于毒奶事件而在全球声誉下挫，在不顾公共道德追逐暴利的逆流之中，幸好还有“神七”成功飞天令世人对“中国制造”重拾信心。";

/// What is done to the paragraphs of an article; the other article is where long texts are from.
type Noise = fn(&mut Vec<String>, &[String]);

const NOISES: [(&str, Noise); 10] = [
    ("\\[1\\] \\[2\\] \\[3\\] in front", |text, _| text.insert(0, "[1] [2] [3] [我来说两句]".to_owned())),
    ("a link behind", |text, _| text.push("相关专题: 法治在线节目实录".to_owned())),
    ("both", |text, _| {
        text.insert(0, "[1] [2] [3] [我来说两句]".to_owned());
        text.push("相关专题: 法治在线节目实录".to_owned());
    }),
    ("second paragraph made short (A3')", |text, _| SHORT.clone_into(&mut text[1])),
    ("last paragraph left out", |text, _| {
        text.pop();
    }),
    ("first paragraph left out", |text, _| {
        text.remove(0);
    }),
    ("long text added to the second (A2')", |text, other| {
        let long: String = other.concat().chars().take(400).collect();
        text[1].push_str(&long);
    }),
    ("1 % of the characters replaced", |text, _| replace(text, 1)),
    ("5 % of the characters replaced", |text, _| replace(text, 5)),
    ("paragraphs joined", |text, _| *text = vec![text.concat()]),
];

/// Replaces some in a hundred characters by one that is not there.
fn replace(paragraphs: &mut [String], percent: u64) {
    let mut place = 0;
    for paragraph in paragraphs {
        let replaced = |c: char| {
            place += 1;
            if mix(place) % 100 < percent { '〇' } else { c }
        };
        *paragraph = paragraph.chars().map(replaced).collect();
    }
}

/// Prints the table: of articles with a long paragraph, which have extraction units, and of those
/// without.
pub fn print(data: &Path, most: usize) {
    let of = articles::read(data).into_iter().filter(|article| article.language == Language::Chinese);
    let articles: Vec<Vec<String>> = of
        .filter(|article| article.paragraphs.len() >= 4)
        .map(|article| article.paragraphs.iter().map(|sentences| sentences.concat()).collect())
        .take(most)
        .collect();
    // Where no paragraph can be a unit, codes differ if there was one.
    let without = CodeSpec { unit_length: usize::MAX, unit_share: 1.0, ..CodeSpec::default() };
    let has_unit = |text: &str| code(text, &CodeSpec::default()) != code(text, &without);
    let (units, none): (Vec<_>, Vec<_>) =
        (0..articles.len()).partition(|&n| has_unit(&articles[n].join("\n")));
    println!("### Codes after insertion, deletion and change (Table I)\n");
    println!("{} articles with extraction units, {} without.\n", units.len(), none.len());
    let rows: Vec<Vec<String>> = NOISES
        .iter()
        .map(|(name, noise)| {
            let mut row = vec![(*name).to_owned()];
            for numbers in [&units, &none] {
                row.extend(figures(&articles, numbers, *noise));
            }
            row
        })
        .collect();
    let of = ["equal codes", "S_AA'", "S_A'A", "at least 0.75", "equal, full stops"];
    let head: Vec<String> = std::iter::once("what is done".to_owned())
        .chain(of.iter().map(|name| format!("units: {name}")))
        .chain(of.iter().map(|name| format!("none: {name}")))
        .collect();
    plot::table(&head, &rows);
}

fn code(text: &str, spec: &CodeSpec) -> String {
    feature_code(text, spec, &Stop::default()).expect("memory")
}

/// What is left of an article's code.
struct Left {
    equal: bool,
    /// The repeatability of the article over the changed one, and of that over the article.
    shares: [f64; 2],
    /// Whether the codes of full stops are equal.
    equal_stops: bool,
}

/// Of these articles: the share with equal codes, the mean repeatabilities, the share that is
/// found, and the share with equal codes of full stops.
fn figures(articles: &[Vec<String>], numbers: &[usize], noise: Noise) -> Vec<String> {
    let left = on_all(
        numbers,
        || (),
        |(), &n| {
            let mut noisy = articles[n].clone();
            noise(&mut noisy, &articles[(n + 1) % articles.len()]);
            let texts = [articles[n].join("\n"), noisy.join("\n")];
            let [a, b] = [0, 1].map(|n| code(&texts[n], &CodeSpec::default()));
            let share = |a: &str, b: &str| repeatability(a, b, &Stop::default()).expect("memory");
            let [stops, other_stops] = [0, 1].map(|n| periods::code(&texts[n], 1));
            Left { equal: a == b, shares: [share(&b, &a), share(&a, &b)], equal_stops: stops == other_stops }
        },
    );
    let count = |is: fn(&Left) -> bool| share(left.iter().filter(|left| is(left)).count(), left.len());
    let mean = |n: usize| {
        let sum: f64 = left.iter().map(|left| left.shares[n]).sum();
        format!("{:.3}", sum / left.len().max(1) as f64)
    };
    vec![
        count(|left| left.equal),
        mean(0),
        mean(1),
        count(|left| left.shares[0].max(left.shares[1]) >= 0.75),
        count(|left| left.equal_stops),
    ]
}
