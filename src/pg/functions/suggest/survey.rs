//! What a sample of the documents shows: the kind of their texts, and how many pairs reach each
//! similarity. The sample is read twice: to look at the texts, and to join them exactly at a low
//! similarity.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;

use pgrx::check_for_interrupts;

use crate::pg::read::documents::Finished;
use crate::pg::read::sample::Sample;
use crate::pg::request::example::Example;
use crate::pg::request::form::{Argument, Named, SUGGEST_PAIRS};
use crate::pg::request::{Request, at_least_one, such_as};
use crate::pg::server::error::Result;
use neardup_core::joins::pairs::{Pair, Pairs};
use neardup_core::methods::Method;
use neardup_core::methods::sets::Sets;
use neardup_core::suggest::curve::Curve;
use neardup_core::suggest::profile::TextProfile;
use neardup_core::suggest::proposals::{Proposal, Proposals, rows_of};
use neardup_core::verify::measure::Measure;

/// The sample of a call and what it shows.
pub(super) struct Survey {
    /// The kind of the texts.
    pub profile: TextProfile,
    /// How many pairs reach each similarity.
    pub curve: Curve,
    /// The numbers of documents in the sample and of all documents.
    pub documents: [u64; 2],
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
        let asked = given.get(Argument::Sample).map(|asked| at_least_one(Argument::Sample.name(), asked));
        let asked = asked.transpose().map_err(|error| {
            let example = usual(request).with(Argument::Sample.name(), 25_000);
            error.hint(such_as(&example))
        })?;
        let sample = Sample::new(&request.left, asked.and_then(NonZeroU64::new))?;
        let sampled = sample.of(&request.left);
        let (profile, _) = request.reading_of(&sampled).run(TextProfile::of)?;
        let mut reading = request.reading_of(&sampled);
        let method = method(&profile)?;
        let (pairs, account) = reading.run(|reading| method.pairs(reading))?;
        let finished = reading.finish();
        let curve = Curve::new(finished.left.len())?;
        let documents = [account.documents, sample.documents];
        let mut survey = Self { profile, curve, documents, finished, pairs };
        survey.join(proposals)?;
        Ok(survey)
    }

    /// Joins the sample.
    fn join(&mut self, mut proposals: Option<&mut Proposals>) -> Result<()> {
        let Self { curve, finished, pairs, .. } = self;
        let ids = &finished.left;
        curve.add_equal(pairs);
        let mut hashes: HashMap<u32, u64> = HashMap::new();
        if let Some(proposals) = &mut proposals {
            for (rows, are_pairs) in pairs.equal_rows() {
                check_for_interrupts!();
                let hash = rows.iter().map(|&row| ids.hash(row)).fold(u64::MAX, u64::min);
                hashes.insert(rows[0], hash);
                if are_pairs {
                    let (of, count) =
                        (Pair { left: rows[0], right: rows[0], similarity: 1.0 }, rows.len() as u64);
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
            }
            if curve.is_full() || !pairs.advance(&finished.executor)? {
                return Ok(());
            }
            let share = 100.0 * pairs.progress();
            finished.progress.report(|| format!("joining a sample, {share:.0} %"));
        }
    }

    /// Returns the rows of proposed pairs, the lesser id first.
    pub(super) fn rows(&self, proposals: &[Proposal]) -> Vec<[u32; 2]> {
        let ids = &self.finished.left;
        let wanted: HashSet<u32> =
            proposals.iter().flat_map(|proposal| [proposal.of.left, proposal.of.right]).collect();
        let in_order = |rows: &[u32]| {
            let mut rows = rows.to_vec();
            rows.sort_unstable_by(|&a, &b| ids.before(b, a).cmp(&ids.before(a, b)));
            rows
        };
        let of_several = self.pairs.equal_rows().filter(|(rows, _)| wanted.contains(&rows[0]));
        let groups: HashMap<u32, Vec<u32>> = of_several.map(|(rows, _)| (rows[0], in_order(rows))).collect();
        let of = |proposal: &Proposal| {
            let Pair { left, right, .. } = proposal.of;
            let group = |row: u32| groups.get(&row).cloned().unwrap_or_else(|| vec![row]);
            let (mut lesser, mut greater) = (group(left), group(right));
            // The group with the least id comes first, whatever row was read first.
            if ids.before(greater[0], lesser[0]) {
                std::mem::swap(&mut lesser, &mut greater);
            }
            let other = (left != right).then_some(&greater[..]);
            let [a, b] = rows_of(&lesser, other, proposal.number);
            if ids.before(a, b) { [a, b] } else { [b, a] }
        };
        proposals.iter().map(of).collect()
    }
}

/// Returns a call of the function of a request that works.
pub(super) fn usual(request: &Request) -> Example {
    request.example.at((request.name == SUGGEST_PAIRS.name).then_some(100.0))
}

/// Returns the join of texts of a kind, from the floor of the curve on.
pub(super) fn method(profile: &TextProfile) -> Result<Sets> {
    Ok(Sets { spec: profile.parts().spec(), ..Sets::of_words(Measure::Jaccard, Curve::FLOOR)? })
}
