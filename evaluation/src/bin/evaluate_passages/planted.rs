//! News into which passages of other news were copied, and how well these are located.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::Path;

use neardup_core::passages::{Parameters, Passage};
use neardup_core::text::sentences::sentences as cut;

use crate::characters::{characters, solid};
use crate::corpora;
use crate::score::Score;
use crate::searching::passages;
use crate::sentences::Sentences;
use crate::small;
use crate::wrap::wrap;

/// The sentences of a long run: as many as a passage has by default.
pub const RUN: usize = 3;

/// News with planted passages. Characters are numbered without white space, which copies need not
/// keep.
pub struct Planted {
    pub name: &'static str,
    pub texts: Vec<String>,
    /// The characters of both documents that were planted, by kind, host and donor.
    truth: BTreeMap<(String, u32, u32), [HashSet<usize>; 2]>,
    /// Of these, pairs whose sentences are not one run of at least [`RUN`] in both documents.
    short: HashSet<(u32, u32)>,
    /// Pairs of which one document has fewer than [`RUN`] whole sentences, as neardup cuts them, in
    /// what was planted.
    few: HashSet<(u32, u32)>,
    /// The planted sentences.
    sentences: Vec<PlantedSentence>,
}

/// A sentence that was copied: its host and its donor, and its characters in both.
#[derive(Clone)]
pub struct PlantedSentence {
    rows: [u32; 2],
    spans: [Range<usize>; 2],
}

impl Planted {
    pub fn read(data: &Path, name: &'static str) -> Self {
        /// Lines of the labels that the small form has.
        const FEW: usize = 120;
        let spans = std::fs::read_to_string(data.join(name).join("spans.tsv")).expect("spans");
        let lines: Vec<&str> =
            spans.lines().skip(1).take(if small::small() { FEW } else { usize::MAX }).collect();
        let named: HashSet<&str> = lines.iter().flat_map(|line| line.split('\t').take(2)).collect();
        let (mut texts, mut rows) = (Vec::new(), BTreeMap::new());
        for document in corpora::documents(data, name) {
            if small::small() && !named.contains(&*corpora::id(&document)) {
                continue;
            }
            rows.insert(corpora::id(&document), texts.len() as u32);
            texts.push(corpora::text(&document));
        }
        let places: Vec<Vec<usize>> = texts.iter().map(|text| solid(text)).collect();
        let mut truth: BTreeMap<_, [HashSet<usize>; 2]> = BTreeMap::new();
        let mut sentences: Vec<PlantedSentence> = Vec::new();
        for line in lines {
            let fields: Vec<&str> = line.split('\t').collect();
            let (host, donor) = (rows[fields[0]], rows[fields[1]]);
            let at: Vec<usize> = fields[3..7].iter().map(|at| at.parse().expect("a number")).collect();
            let spans = [(host, &at[..2]), (donor, &at[2..])]
                .map(|(row, at)| characters(&places[row as usize], &(at[0]..at[1])));
            sentences.push(PlantedSentence { rows: [host, donor], spans });
            let of = truth.entry((fields[2].to_owned(), host, donor)).or_default();
            of[0].extend(characters(&places[host as usize], &(at[0]..at[1])));
            of[1].extend(characters(&places[donor as usize], &(at[2]..at[3])));
        }
        let follow = |pair: &[PlantedSentence]| {
            [0, 1].iter().all(|&side| pair[0].spans[side].end == pair[1].spans[side].start)
        };
        let is_short = |own: &&[PlantedSentence]| own.len() < RUN || !own.windows(2).all(follow);
        let of_pairs = sentences.chunk_by(|a, b| a.rows == b.rows);
        let short = of_pairs.filter(is_short).map(|own| own[0].rows.into()).collect();
        let is_few = |((_, host, donor), planted): (&(String, u32, u32), &[HashSet<usize>; 2])| {
            let whole = |row: u32, planted: &HashSet<usize>| {
                let (text, places) = (&texts[row as usize], &places[row as usize]);
                whole_sentences(text, places, planted) < RUN
            };
            (whole(*host, &planted[0]) || whole(*donor, &planted[1])).then_some((*host, *donor))
        };
        let few = truth.iter().filter_map(is_few).collect();
        Self { name, texts, truth, short, few, sentences }
    }

    /// The same with hosts wrapped at so many columns; a line that is indented, or follows an empty
    /// one, begins a paragraph and goes on doing so.
    pub fn wrapped(&self, width: usize) -> Self {
        let hosts: HashSet<u32> = self.truth.keys().map(|&(_, host, _)| host).collect();
        let texts = self.texts.iter().zip(0..).map(|(text, row)| match hosts.contains(&row) {
            true => wrap(text, width),
            false => text.clone(),
        });
        Self {
            name: self.name,
            texts: texts.collect(),
            truth: self.truth.clone(),
            short: self.short.clone(),
            few: self.few.clone(),
            sentences: self.sentences.clone(),
        }
    }

    /// The same with one more of 20 words of the copies with replaced words replaced, so that a tenth
    /// of their words differs.
    pub fn edited_again(&self) -> Self {
        let mut again = self.of_runs(false);
        again.texts.clone_from(&self.texts);
        again.truth = self
            .truth
            .iter()
            .filter(|(key, _)| key.0 == "edit5")
            .map(|(key, own)| (key.clone(), own.clone()))
            .collect();
        for ((_, host, _), [planted, _]) in &again.truth {
            let text = &mut again.texts[*host as usize];
            let (mut edited, mut solid, mut word) = (String::new(), 0, 0u32);
            let mut is_open = false;
            for c in text.chars() {
                is_open &= c.is_ascii_alphanumeric();
                if c.is_alphanumeric() && !is_open {
                    word += 1;
                    is_open = c.is_ascii_alphanumeric();
                }
                let is_edited = c.is_alphanumeric() && planted.contains(&solid) && word.is_multiple_of(20);
                let other = char::from_u32(c as u32 + 1).filter(|other| is_edited && other.is_alphanumeric());
                edited.push(other.unwrap_or(c));
                solid += usize::from(!c.is_whitespace());
            }
            *text = edited;
        }
        again
    }

    /// The same without pairs with a run of fewer than [`RUN`] sentences: of the labels, or of
    /// whole ones as neardup cuts them.
    pub fn of_runs(&self, whole: bool) -> Self {
        let is_none = |pair: &(u32, u32)| self.short.contains(pair) || whole && self.few.contains(pair);
        let truth = self.truth.iter().filter(|((_, host, donor), _)| !is_none(&(*host, *donor)));
        Self {
            name: self.name,
            texts: self.texts.clone(),
            truth: truth.map(|(key, own)| (key.clone(), own.clone())).collect(),
            short: HashSet::new(),
            few: HashSet::new(),
            sentences: Vec::new(),
        }
    }

    /// How many pairs of documents have something of these kinds planted.
    pub fn count(&self, kinds: &[&str]) -> usize {
        self.truth.keys().filter(|key| kinds.contains(&key.0.as_str())).count()
    }

    /// The share of the planted sentences that are duplicates by the letters of the sentences in
    /// whose middle they are.
    pub fn read_as_duplicates(&self, sentences: &Sentences) -> f64 {
        let middle = |row: u32, span: &Range<usize>| {
            let at = (span.start + span.end) / 2;
            let solid = self.texts[row as usize].char_indices().filter(|(_, c)| !c.is_whitespace());
            let byte = solid.map(|(byte, _)| byte).nth(at)?;
            sentences.at(row, byte)
        };
        let alike = |PlantedSentence { rows, spans }: &PlantedSentence| {
            Some(sentences.are_alike(middle(rows[0], &spans[0])?, middle(rows[1], &spans[1])?))
        };
        let judged: Vec<bool> = self.sentences.iter().filter_map(alike).collect();
        judged.iter().filter(|&&alike| alike).count() as f64 / judged.len().max(1) as f64
    }

    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = self.truth.keys().map(|(kind, ..)| kind.as_str()).collect();
        kinds.dedup();
        kinds
    }

    /// How well passages are located, of some kinds.
    pub fn judge(&self, found: &[Passage], kinds: &[&str]) -> Score {
        let mut score = Score::default();
        self.judge_each(found, kinds).into_iter().for_each(|own| score += own);
        score
    }

    /// The same of each pair of documents with something planted.
    pub fn judge_each(&self, found: &[Passage], kinds: &[&str]) -> Vec<Score> {
        let places: Vec<Vec<usize>> = self.texts.iter().map(|text| solid(text)).collect();
        let mut of: BTreeMap<(u32, u32), [HashSet<usize>; 2]> = BTreeMap::new();
        for passage in found {
            let rows = [passage.left_row, passage.right_row];
            let spans = [&passage.left_span, &passage.right_span];
            let [left, right] = [0, 1].map(|side| characters(&places[rows[side] as usize], spans[side]));
            for (host, donor, a, b) in [(rows[0], rows[1], &left, &right), (rows[1], rows[0], &right, &left)]
            {
                let own = of.entry((host, donor)).or_default();
                own[0].extend(a.clone());
                own[1].extend(b.clone());
            }
        }
        let nothing = Default::default();
        let of_kinds = self.truth.iter().filter(|(key, _)| kinds.contains(&key.0.as_str()));
        let each = of_kinds.map(|((_, host, donor), truth)| {
            let found = of.get(&(*host, *donor)).unwrap_or(&nothing);
            let mut score = Score::default();
            for side in [0, 1] {
                let both = truth[side].intersection(&found[side]).count();
                score += Score { both, found: found[side].len(), truth: truth[side].len() };
            }
            score
        });
        each.collect()
    }

    /// The share of the planted sentences of which passages have at least half the characters in
    /// both documents.
    pub fn sentences_found(&self, found: &[Passage]) -> f64 {
        let places: Vec<Vec<usize>> = self.texts.iter().map(|text| solid(text)).collect();
        let mut of: BTreeMap<[u32; 2], Vec<[Range<usize>; 2]>> = BTreeMap::new();
        for passage in found {
            let rows = [passage.left_row, passage.right_row];
            let spans = [&passage.left_span, &passage.right_span];
            let [left, right] = [0, 1].map(|side| characters(&places[rows[side] as usize], spans[side]));
            of.entry(rows).or_default().push([left.clone(), right.clone()]);
            of.entry([rows[1], rows[0]]).or_default().push([right, left]);
        }
        let is_found = |PlantedSentence { rows, spans }: &&PlantedSentence| {
            let all: &[[Range<usize>; 2]] = of.get(rows).map_or(&[], Vec::as_slice);
            [0, 1].iter().all(|&side| {
                let inside = |at: &usize| all.iter().any(|passage| passage[side].contains(at));
                2 * spans[side].clone().filter(inside).count() >= spans[side].len()
            })
        };
        let count = self.sentences.iter().filter(is_found).count();
        count as f64 / self.sentences.len().max(1) as f64
    }

    /// The same of a search.
    pub fn score(&self, parameters: &Parameters, kinds: &[&str]) -> Score {
        self.judge(&passages(&self.texts, parameters), kinds)
    }
}

/// How many sentences of a text have all of their characters among those that were planted.
fn whole_sentences(text: &str, places: &[usize], planted: &HashSet<usize>) -> usize {
    let spans = cut(text);
    let whole = spans.iter().filter(|span| characters(places, &span.chars).all(|at| planted.contains(&at)));
    whole.count()
}
