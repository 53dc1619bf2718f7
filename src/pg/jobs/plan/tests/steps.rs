//! The effect of each step on a [`World`].

use std::collections::BTreeSet;
use std::mem::discriminant;

use super::world::{Id, Lists, Seen, Segment, World, clusters, join, reach, similar};
use crate::jobs::plan::plan;
use crate::jobs::state::{BatchPairs, JobFacts, KnownRows, Present, RegisteredJob, Removed};
use crate::jobs::step::{ClusterUpdate, JoinSelection, RefreshStep, RowSelection};
use neardup_core::error::Result;
use neardup_core::turns::Turns;

impl World {
    /// Plans and executes a transaction. `each` is called before each step and may write meanwhile,
    /// or stop the transaction. Returns the steps that were executed; the last one is
    /// [`Step::Done`] unless the transaction was stopped. Fails if steps report nothing.
    pub(super) fn transaction(
        &mut self,
        first: bool,
        mut each: impl FnMut(&mut Self, RefreshStep) -> bool,
    ) -> Result<Vec<RefreshStep>> {
        let same_definition =
            if self.job.told { self.compared == Some(self.definition) } else { self.compared.is_some() };
        self.seen = Seen { definition: self.definition, ..Seen::default() };
        let mut state = JobFacts::new(RegisteredJob { first, same_definition, ..self.job });
        let mut done = Vec::new();
        let mut turns = Turns::default();
        loop {
            for step in turns.plan(&state, plan)? {
                if !each(self, step) {
                    return Ok(done);
                }
                done.push(step);
                if let RefreshStep::Done { .. } = step {
                    return Ok(done);
                }
                if self.idle != Some(discriminant(&step)) {
                    self.carry_out(step, &mut state);
                }
            }
        }
    }

    fn carry_out(&mut self, step: RefreshStep, state: &mut JobFacts) {
        let take = |limit: i64| usize::try_from(limit).unwrap_or(usize::MAX);
        match step {
            RefreshStep::Retype => {
                self.pairs.clear();
                self.clusters.clear();
                self.known.clear();
                self.waiting.clear();
                self.doubtful.clear();
                self.lists = Lists::default();
                self.job.other_type = false;
                state.emptied();
            }
            // The rows remain the same.
            RefreshStep::Move => {
                self.job.misplaced = false;
                state.job.misplaced = false;
            }
            RefreshStep::TakeUnnoted => state.unnoted = Some(std::mem::take(&mut self.unnoted)),
            RefreshStep::Look => {
                self.seen.docs.clone_from(&self.docs);
                self.seen.waiting = self.waiting.len();
                let same = state.job.same_definition && self.seen.definition == self.definition;
                state.noted = Some(state.job.told && same && !self.unnoted);
            }
            RefreshStep::LookAtRows { limit } => {
                let fits = self.seen.docs.len() <= take(limit);
                state.contents =
                    Some(if self.known.is_empty() { KnownRows::Unseen { fits } } else { KnownRows::Seen });
            }
            RefreshStep::ForgetWaiting => {
                self.waiting.drain(..self.seen.waiting);
                self.doubtful.clear();
            }
            RefreshStep::TakeAll => {
                self.known = self.seen.docs.clone();
                state.rows = Some(self.known.len() as i64);
            }
            RefreshStep::CompareAll { limit } => {
                let mut waited: BTreeSet<Id> = self.waiting.drain(..self.seen.waiting).collect();
                waited.append(&mut self.doubtful);
                let docs = &self.seen.docs;
                let ids: BTreeSet<Id> =
                    docs.keys().chain(self.known.keys()).chain(&waited).copied().collect();
                let differs = |id: &Id| docs.get(id) != self.known.get(id) || waited.contains(id);
                let changed = ids.into_iter().filter(differs);
                let changed: Vec<Id> = changed.collect();
                let (batch, rest) = changed.split_at(take(limit).min(changed.len()));
                self.batch.extend(batch);
                self.waiting.extend(rest);
                state.rows = Some(batch.len() as i64);
            }
            RefreshStep::TakeMarks { limit } => {
                let rest = self.waiting.split_off(take(limit).min(self.seen.waiting));
                self.seen.waiting -= self.waiting.len();
                self.batch = self.waiting.drain(..).collect();
                self.waiting = rest;
                state.rows = Some(self.batch.len() as i64);
            }
            RefreshStep::CountKnown { limit } => state.known = Some((self.known.len() as i64).min(limit)),
            RefreshStep::ReachBefore => self.before = reach(&self.pairs, &self.batch),
            RefreshStep::RemoveAllPairs => {
                let pairs = std::mem::take(&mut self.pairs).len() as i64;
                state.removed = Some(Removed { pairs, had_pairs: true });
            }
            RefreshStep::RemovePairs { by_clusters } => {
                let had_pairs = !by_clusters || self.clusters.iter().any(|(_, id)| self.batch.contains(id));
                let before = self.pairs.len();
                if had_pairs {
                    self.pairs.retain(|(a, b)| !self.batch.contains(a) && !self.batch.contains(b));
                }
                state.removed = Some(Removed { pairs: (before - self.pairs.len()) as i64, had_pairs });
            }
            RefreshStep::Reread => {
                self.known.retain(|id, _| !self.batch.contains(id));
                let alone = self.known.is_empty();
                let rows = self.batch.iter().filter_map(|id| Some((*id, *self.seen.docs.get(id)?)));
                let rows: Vec<(Id, u8)> = rows.collect();
                state.present = Some(Present { alone, rows: rows.len() as i64 });
                self.known.extend(rows);
            }
            RefreshStep::NextSegment { rows } => {
                let listed: usize = self.lists.segments.iter().map(|segment| segment.rows.len()).sum();
                let order = self.lists.order.filter(|order| rows as usize + listed <= 5 + 3 * order);
                let next = self.lists.segments.iter().map(|segment| segment.number + 1).max();
                state.segment = Some(order.and(next));
            }
            RefreshStep::LookUp { segment, doubts } => state.found = Some(self.look_up(segment, doubts)),
            RefreshStep::Doubt => {
                let ids: Vec<Id> = self.known.keys().copied().collect();
                self.doubt(ids);
            }
            RefreshStep::JoinRows(rows) => {
                let found = join(&self.seen.docs, |a, b| self.are_joined(rows, a, b));
                let before = self.pairs.len();
                self.pairs.extend(found);
                state.found = Some(BatchPairs { pairs: (self.pairs.len() - before) as i64, listed: false });
            }
            RefreshStep::Outline { segment } => self.outline(segment),
            RefreshStep::MergeSegments => {
                if self.lists.segments.len() > 2 && !self.lists.damaged {
                    let next = self.lists.segments.last().map_or(0, |last| last.number + 1);
                    let last = self.lists.segments.split_off(self.lists.segments.len() - 2);
                    let rows = last.into_iter().flat_map(|segment| segment.rows).collect();
                    self.lists.segments.push(Segment { number: next, rows });
                }
                state.damaged = Some(self.lists.damaged);
            }
            RefreshStep::MakeLists(rows) => {
                let wanted = |id: &Id| match rows {
                    None => true,
                    Some(RowSelection::Known) => self.known.contains_key(id),
                    Some(RowSelection::Batch) => self.batch.contains(id),
                };
                let rows: Vec<(Id, u8)> = self
                    .seen
                    .docs
                    .iter()
                    .map(|(id, content)| (*id, *content))
                    .filter(|(id, _)| wanted(id))
                    .collect();
                let order = Some(rows.len());
                self.lists = Lists { segments: vec![Segment { number: 1, rows }], order, damaged: false };
            }
            RefreshStep::Cluster(how) => self.cluster(how),
            RefreshStep::EndBatch => {
                self.batch.clear();
                self.before.clear();
                state.more = Some(!self.waiting.is_empty());
            }
            RefreshStep::WriteEntry => {
                self.job.renewed = false;
                if state.job.first {
                    self.compared = Some(self.seen.definition);
                }
            }
            RefreshStep::Log { .. } => self.batches += usize::from(state.rows != Some(0)),
            RefreshStep::Analyze | RefreshStep::Done { .. } => {}
        }
    }

    fn are_joined(&self, rows: JoinSelection, a: Id, b: Id) -> bool {
        let in_batch = [a, b].map(|id| self.batch.contains(&id));
        let known = |id| self.known.contains_key(id);
        match rows {
            JoinSelection::All => true,
            JoinSelection::Batch => in_batch == [true; 2],
            JoinSelection::BatchWithKnown => (in_batch[0] && known(&b)) || (in_batch[1] && known(&a)),
        }
    }

    fn outline(&mut self, number: i64) {
        let rows = self.batch.iter().filter_map(|id| Some((*id, *self.seen.docs.get(id)?))).collect();
        self.lists.segments.push(Segment { number, rows });
    }

    /// Puts in doubt those of some rows that differ from what was seen. Waiting rows are known to
    /// differ.
    fn doubt(&mut self, ids: impl IntoIterator<Item = Id>) {
        let Self { seen, known, waiting, .. } = self;
        let differ = ids.into_iter().filter(|id| seen.docs.get(id) != known.get(id));
        self.doubtful.extend(differ.filter(|id| !waiting[..seen.waiting].contains(id)));
    }

    /// Finds pairs of the batch with rows whose former outlines are similar, or with all known rows
    /// if the lists cannot be read.
    fn look_up(&mut self, segment: Option<i64>, doubts: bool) -> BatchPairs {
        let before = self.pairs.len();
        let docs = &self.seen.docs;
        let is_listed = |id: Id, content: u8| {
            let mut rows = self.lists.segments.iter().flat_map(|segment| &segment.rows);
            rows.any(|&(other, was)| other == id && similar(was, content))
        };
        let found = if self.lists.damaged {
            join(docs, |a, b| self.are_joined(JoinSelection::BatchWithKnown, a, b))
        } else {
            join(docs, |a, b| match [a, b].map(|id| self.batch.contains(&id)) {
                [true, true] => true,
                [true, false] => is_listed(b, docs[&a]),
                [false, true] => is_listed(a, docs[&b]),
                [false, false] => false,
            })
        };
        if doubts && !self.lists.damaged {
            let contents: BTreeSet<u8> = self.batch.iter().filter_map(|id| docs.get(id).copied()).collect();
            let listed = self.lists.segments.iter().flat_map(|segment| &segment.rows);
            let near = listed.filter(|(_, was)| contents.iter().any(|content| similar(*was, *content)));
            let near: Vec<Id> = near.map(|(id, _)| *id).collect();
            self.doubt(near);
        }
        self.pairs.extend(found);
        // If all rows of the batch were deleted, there is nothing to add.
        let any = self.batch.iter().any(|id| self.seen.docs.contains_key(id));
        let listed = (segment.is_some() && any) || self.lists.damaged;
        if let Some(segment) = segment.filter(|_| any && !self.lists.damaged) {
            self.outline(segment);
        }
        BatchPairs { pairs: (self.pairs.len() - before) as i64, listed }
    }

    fn cluster(&mut self, how: ClusterUpdate) {
        let whole = self.job.whole_clusters;
        match how {
            ClusterUpdate::OfSignatures => {
                let pairs = join(&self.seen.docs, |_, _| true);
                self.clusters = clusters(&pairs, whole);
            }
            ClusterUpdate::OfPairs => self.clusters = clusters(&self.pairs, whole),
            ClusterUpdate::Touched { had_pairs } => {
                let partners =
                    self.pairs.iter().filter(|(a, b)| self.batch.contains(a) || self.batch.contains(b));
                let near: BTreeSet<Id> =
                    partners.flat_map(|(a, b)| [*a, *b]).chain(self.batch.iter().copied()).collect();
                let before = near.iter().filter(|id| had_pairs || !self.batch.contains(id));
                let before: BTreeSet<&Id> = before.collect();
                let touched: BTreeSet<Id> =
                    self.clusters.iter().filter(|(_, id)| before.contains(id)).map(|(of, _)| *of).collect();
                let old = self.clusters.iter().filter(|(of, _)| touched.contains(of)).map(|(_, id)| *id);
                let reached: BTreeSet<Id> = old.chain(near).collect();
                let pairs = self.pairs.iter().filter(|(left, _)| reached.contains(left)).copied().collect();
                self.clusters.retain(|(of, _)| !touched.contains(of));
                self.clusters.extend(clusters(&pairs, whole));
            }
            ClusterUpdate::Reached => {
                let reached = reach(&self.pairs, &self.batch.union(&self.before).copied().collect());
                self.clusters.retain(|(_, id)| !reached.contains(id));
                let pairs = self.pairs.iter().filter(|(left, _)| reached.contains(left)).copied().collect();
                self.clusters.extend(clusters(&pairs, whole));
            }
        }
    }
}
