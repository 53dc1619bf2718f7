//! What a sample of the documents shows: the kind of their texts, how many pairs reach each
//! similarity, and whether long texts share parts of them. The sample is read twice: to look at the
//! texts, and to join them exactly at a low similarity; long texts once more, to join them by runs
//! of words.

use std::collections::{HashMap, HashSet};

use pgrx::check_for_interrupts;

use crate::pg::read::documents::Finished;
use crate::pg::read::sample::CallSample;
use crate::pg::read::source::DocumentSource;
use crate::pg::request::example::Example;
use crate::pg::request::form::{Named, SUGGEST_PAIRS};
use crate::pg::request::{Request, sample_size};
use crate::pg::server::error::Result;
use neardup_core::joins::pairs::{Pair, Pairs};
use neardup_core::memory;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::within;
use neardup_core::suggest::curve::PairCurve;
use neardup_core::suggest::profile::{ComparedBy, TextProfile};
use neardup_core::suggest::proposals::{Proposal, Proposals, rows_of};
use neardup_core::suggest::shares::{Shares, WholesAndParts};
use neardup_core::verify::measure::Measure;

const DOING: &str = "joining a sample";

/// The sample of a call and what it shows.
pub(super) struct Survey {
    /// The kind of the texts.
    pub profile: TextProfile,
    /// How many pairs reach each similarity.
    pub curve: PairCurve,
    /// What long texts share, if it was looked at and there are not too many pairs.
    pub shares: Option<Shares>,
    /// The numbers of documents in the sample and of all documents.
    pub documents: [u64; 2],
    /// The documents of the sample.
    pub sampled: DocumentSource,
    /// The ids of the sample.
    pub finished: Finished,
    pairs: Pairs,
}

impl Survey {
    /// Looks at a sample of the documents of a request. All its pairs are offered to `proposals`.
    pub(super) fn new(
        request: &Request,
        given: Named<'_>,
        proposals: Option<&mut Proposals>,
    ) -> Result<Self> {
        let sample = CallSample::new(&request.left, sample_size(given, &usual(request))?)?;
        let sampled = sample.narrow(&request.left);
        let (profile, _) = request.reading_of(&sampled.of_all_groups()).run(TextProfile::read)?;
        let (reading, method) = (request.reading_of(&sampled), method(&profile)?);
        let (pairs, finished, account) = reading.prepare(|reading| within::pairs(&method, reading))?;
        let curve = PairCurve::new(finished.left.len())?;
        let documents = [account.documents, sample.documents];
        let mut survey = Self { profile, curve, shares: None, documents, sampled, finished, pairs };
        let looks_at_parts = proposals.is_none() && profile.are_texts && profile.parts() == ComparedBy::Runs;
        let mut parts = looks_at_parts.then(WholesAndParts::default);
        survey.join(proposals, parts.as_mut())?;
        if let Some(parts) = parts.filter(|parts| !parts.is_full() && !survey.curve.is_full()) {
            survey.shares = survey.share(request, sample, parts)?;
        }
        Ok(survey)
    }

    /// Joins the sample, or a part of it, by runs of words. `parts` has the pairs by their
    /// similarity.
    fn share(
        &self,
        request: &Request,
        sample: CallSample,
        mut parts: WholesAndParts,
    ) -> Result<Option<Shares>> {
        let documents = WholesAndParts::documents(&self.profile).min(self.documents[0]);
        let method = WholesAndParts::runs(&self.profile, documents);
        let sampled = sample.at_most(documents).narrow(&request.left);
        let reading = request.reading_of(&sampled);
        let (mut pairs, mut finished, _) = reading.prepare(|reading| within::pairs(&method, reading))?;
        let ids = &finished.left;
        // Texts that are the same to the first join are the same here, whatever rows come first.
        let hashes = self.hashes_of_equal_rows()?;
        let hash = |row: u32| hashes.get(&ids.hash(row)).copied().unwrap_or_else(|| ids.hash(row));
        loop {
            let known = pairs.certain();
            loop {
                check_for_interrupts!();
                let before = if pairs.given() == 0 { known } else { pairs.given() };
                let Some(pair) = pairs.take_group() else { break };
                let rows = pairs.given().saturating_sub(before);
                parts.add_with_runs([pair.left, pair.right].map(hash), pair.similarity, rows);
            }
            if parts.is_full() || !pairs.advance(&finished.executor)? {
                break;
            }
            let share = 100.0 * pairs.progress();
            finished.progress.report(|| format!("joining a sample by runs, {share:.0} %"));
        }
        for (rows, _) in pairs.equal_rows().filter(|(_, similarity)| similarity.is_some()) {
            let rows = rows.len() as u64;
            parts.add_with_runs([0, 0], 1.0, rows * (rows - 1) / 2);
        }
        let mut texts = HashSet::new();
        memory::attempt(DOING, || texts.try_reserve(ids.len()))?;
        texts.extend((0..ids.len() as u32).map(hash));
        Ok(parts.finish(self.curve.suggest().threshold, &texts, documents))
    }

    /// Returns for the hash of each row with equal rows that of all these rows.
    fn hashes_of_equal_rows(&self) -> Result<HashMap<u64, u64>> {
        let ids = &self.finished.left;
        let mut hashes = HashMap::new();
        for (rows, _) in self.pairs.equal_rows() {
            let hash = rows.iter().map(|&row| ids.hash(row)).fold(u64::MAX, u64::min);
            memory::attempt(DOING, || hashes.try_reserve(rows.len()))?;
            hashes.extend(rows.iter().map(|&row| (ids.hash(row), hash)));
        }
        Ok(hashes)
    }

    /// Joins the sample.
    fn join(
        &mut self,
        mut proposals: Option<&mut Proposals>,
        mut parts: Option<&mut WholesAndParts>,
    ) -> Result<()> {
        let Self { curve, finished, pairs, .. } = self;
        let ids = &finished.left;
        curve.add_equal(pairs);
        let mut hashes: HashMap<u32, u64> = HashMap::new();
        if proposals.is_some() || parts.is_some() {
            for (rows, similarity) in pairs.equal_rows() {
                check_for_interrupts!();
                let hash = rows.iter().map(|&row| ids.hash(row)).fold(u64::MAX, u64::min);
                memory::insert(&mut hashes, rows[0], hash, DOING)?;
                if let Some(proposals) = &mut proposals
                    && let Some(similarity) = similarity
                {
                    let (of, count) = (Pair { left: rows[0], right: rows[0], similarity }, rows.len() as u64);
                    proposals.offer(of, count * (count - 1) / 2, [hash, hash])?;
                }
            }
        }
        let hash = |row: u32| hashes.get(&row).copied().unwrap_or_else(|| ids.hash(row));
        loop {
            loop {
                check_for_interrupts!();
                let Some((pair, rows)) = curve.add_next(pairs) else { break };
                if let Some(proposals) = &mut proposals {
                    proposals.offer(pair, rows, [pair.left, pair.right].map(hash))?;
                }
                if let Some(parts) = &mut parts {
                    parts.add([pair.left, pair.right].map(hash), pair.similarity)?;
                }
            }
            if curve.is_full() || !pairs.advance(&finished.executor)? {
                return Ok(());
            }
            let share = 100.0 * pairs.progress();
            finished.progress.report(|| format!("joining a sample, {share:.0} %"));
        }
    }

    /// Returns the rows of proposed pairs, the lesser id first.
    pub(super) fn rows(&self, proposals: &[Proposal]) -> Result<Vec<[u32; 2]>> {
        let ids = &self.finished.left;
        let mut wanted = HashSet::new();
        memory::attempt(DOING, || wanted.try_reserve(2 * proposals.len()))?;
        wanted.extend(proposals.iter().flat_map(|proposal| [proposal.of.left, proposal.of.right]));
        let mut groups: HashMap<u32, Vec<u32>> = HashMap::new();
        for (rows, _) in self.pairs.equal_rows().filter(|(rows, _)| wanted.contains(&rows[0])) {
            let mut in_order = Vec::new();
            memory::extend(&mut in_order, rows, DOING)?;
            in_order.sort_unstable_by(|&a, &b| ids.before(b, a).cmp(&ids.before(a, b)));
            memory::insert(&mut groups, rows[0], in_order, DOING)?;
        }
        let of = |proposal: &Proposal| {
            let Pair { left, right, .. } = proposal.of;
            check_for_interrupts!();
            // A group may have nearly all rows, and be that of each pair.
            let alone = [[left], [right]];
            let group = |n: usize| groups.get(&alone[n][0]).map_or(&alone[n][..], Vec::as_slice);
            let (mut lesser, mut greater) = (group(0), group(1));
            // The group with the least id comes first, whatever row was read first.
            if ids.before(greater[0], lesser[0]) {
                std::mem::swap(&mut lesser, &mut greater);
            }
            let other = (left != right).then_some(greater);
            let [a, b] = rows_of(lesser, other, proposal.number);
            if ids.before(a, b) { [a, b] } else { [b, a] }
        };
        Ok(memory::collect(proposals.iter().map(of), DOING)?)
    }
}

/// Returns a call of the function of a request that works.
pub(super) fn usual(request: &Request) -> Example {
    request.example.at((request.name == SUGGEST_PAIRS.name).then_some(100.0))
}

/// Returns the join of texts of a kind, from the floor of the curve on.
pub(super) fn method(profile: &TextProfile) -> Result<Sets> {
    Ok(Sets { spec: profile.parts().spec(), ..Sets::of_words(Measure::Jaccard, PairCurve::FLOOR)? })
}
