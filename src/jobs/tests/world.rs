//! The tables of a job as sets and maps: a job small enough to compute anew at any time.
//!
//! The content of a document is a number; two are similar where their numbers differ by at most 1, and 0 is like nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::Discriminant;

use crate::jobs::state::{Job, Upkeep};
use crate::jobs::step::Step;

pub(super) type Id = u8;
pub(super) type Pairs = BTreeSet<(Id, Id)>;
pub(super) type Members = BTreeSet<(Id, Id)>;

/// A segment of lists: what rows were like when they were put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub number: i64,
    pub rows: Vec<(Id, u8)>,
}

/// The stored lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lists {
    pub segments: Vec<Segment>,
    /// Of how many documents the order of tokens was made; none if there is none of this version.
    pub order: Option<usize>,
    pub damaged: bool,
}

/// What a trigger does about a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Note {
    /// It notes the id.
    Id,
    /// It notes that rows changed.
    Unnoted,
    /// Nothing, but the definition of the relation was changed.
    Definition,
}

/// What the steps of a transaction see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub docs: BTreeMap<Id, u8>,
    /// How many marks of waiting rows: the first ones.
    pub waiting: usize,
    /// The definition with which the transaction began.
    pub definition: usize,
}

/// A relation, and all that a job knows of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct World {
    pub docs: BTreeMap<Id, u8>,
    /// What a transaction begins with, but for what is compared with the definition.
    pub job: Job,
    /// The definition of the relation, which is another number with each change.
    pub definition: usize,
    /// That of when all rows were compared last.
    pub compared: Option<usize>,
    pub seen: Seen,
    pub unnoted: bool,
    pub known: BTreeMap<Id, u8>,
    pub waiting: Vec<Id>,
    pub doubtful: BTreeSet<Id>,
    pub pairs: Pairs,
    pub clusters: Members,
    pub lists: Lists,
    pub batches: usize,
    pub batch: BTreeSet<Id>,
    pub before: BTreeSet<Id>,
    /// A step that does nothing, by mistake.
    pub idle: Option<Discriminant<Step>>,
}

/// Whether documents of these contents are similar.
pub(super) fn similar(a: u8, b: u8) -> bool {
    a != 0 && b != 0 && a.abs_diff(b) <= 1
}

/// All pairs of some rows of which `wanted` holds.
pub(super) fn join(docs: &BTreeMap<Id, u8>, wanted: impl Fn(Id, Id) -> bool) -> Pairs {
    let all = docs.iter().flat_map(|a| docs.iter().map(move |b| (a, b)));
    all.filter(|((a, x), (b, y))| a < b && similar(**x, **y) && wanted(**a, **b))
        .map(|((a, _), (b, _))| (*a, *b))
        .collect()
}

/// The rows that pairs connect with some, these among them.
pub(super) fn reach(pairs: &Pairs, from: &BTreeSet<Id>) -> BTreeSet<Id> {
    let mut reached = from.clone();
    loop {
        let next = pairs.iter().filter(|(a, b)| reached.contains(a) || reached.contains(b));
        let more: Vec<Id> = next.flat_map(|(a, b)| [*a, *b]).collect();
        let before = reached.len();
        reached.extend(more);
        if reached.len() == before {
            return reached;
        }
    }
}

/// The clusters of some pairs: `(cluster, member)`. What is connected, by its least row; or stars around the rows that are in
/// none when their turn comes.
pub(super) fn clusters(pairs: &Pairs, whole: bool) -> Members {
    let rows: BTreeSet<Id> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut members = Members::new();
    let mut seen: BTreeSet<Id> = BTreeSet::new();
    for row in rows {
        if !seen.contains(&row) {
            let of: BTreeSet<Id> = if whole {
                reach(pairs, &BTreeSet::from([row]))
            } else {
                let near = pairs.iter().filter(|(a, b)| *a == row || *b == row);
                near.flat_map(|(a, b)| [*a, *b]).collect()
            };
            seen.extend(&of);
            members.extend(of.into_iter().map(|member| (row, member)));
        }
    }
    members
}

impl World {
    pub(super) fn new(docs: BTreeMap<Id, u8>, job: Job) -> Self {
        Self {
            docs,
            job,
            definition: 0,
            compared: None,
            seen: Seen::default(),
            unnoted: false,
            known: BTreeMap::new(),
            waiting: Vec::new(),
            doubtful: BTreeSet::new(),
            pairs: Pairs::new(),
            clusters: Members::new(),
            lists: Lists::default(),
            batches: 0,
            batch: BTreeSet::new(),
            before: BTreeSet::new(),
            idle: None,
        }
    }

    /// What the tables would be if all was computed anew.
    pub(super) fn anew(&self) -> (Pairs, Members, BTreeMap<Id, u8>) {
        let pairs = join(&self.docs, |_, _| true);
        let clusters = clusters(&pairs, self.job.whole_clusters);
        (pairs, clusters, self.docs.clone())
    }

    /// What they are.
    pub(super) fn results(&self) -> (Pairs, Members, BTreeMap<Id, u8>) {
        (self.pairs.clone(), self.clusters.clone(), self.known.clone())
    }

    /// Whether nothing waits, and each row is in the lists as it is, if the job has lists. Those that are damaged are made anew
    /// with the next batch.
    pub(super) fn is_settled(&self) -> bool {
        let listed = |row: (&Id, &u8)| {
            self.lists.segments.iter().any(|segment| segment.rows.contains(&(*row.0, *row.1)))
        };
        let has_lists = self.job.upkeep == Upkeep::Sets;
        self.waiting.is_empty()
            && self.doubtful.is_empty()
            && self.batch.is_empty()
            && (!has_lists || self.lists.damaged || self.docs.iter().all(listed))
    }

    /// A write that commits now, of which a trigger tells if there is one.
    pub(super) fn write(&mut self, id: Id, content: Option<u8>, note: Note) {
        match content {
            Some(content) => self.docs.insert(id, content),
            None => self.docs.remove(&id),
        };
        match note {
            Note::Id if self.job.told => self.waiting.push(id),
            Note::Id => {}
            Note::Unnoted => self.unnoted = true,
            Note::Definition => self.definition += 1,
        }
    }
}
