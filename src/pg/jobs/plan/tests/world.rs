//! The tables of a job as sets and maps, for a job small enough to compute from scratch at any
//! time.
//!
//! The content of a document is a number. Two are similar if their numbers differ by at most 1; 0
//! is similar to nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::Discriminant;

use crate::jobs::state::{RegisteredJob, Upkeep};
use crate::jobs::step::RefreshStep;

pub(super) type Id = u8;
pub(super) type Pairs = BTreeSet<(Id, Id)>;
pub(super) type Members = BTreeSet<(Id, Id)>;

/// A segment of lists: the contents of rows when they were added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub number: i64,
    pub rows: Vec<(Id, u8)>,
}

/// The stored lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lists {
    pub segments: Vec<Segment>,
    /// The number of documents from which the order of tokens was made, or `None` if there is no
    /// order of this version.
    pub order: Option<usize>,
    pub damaged: bool,
}

/// The action of a trigger after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Note {
    /// It notes the id.
    Id,
    /// It notes that rows changed.
    Unnoted,
    /// It notes nothing, but the definition of the relation changed.
    Definition,
}

/// The data that the steps of a transaction see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub docs: BTreeMap<Id, u8>,
    /// The number of marks of waiting rows that are seen: the first ones.
    pub waiting: usize,
    /// The definition at the beginning of the transaction.
    pub definition: usize,
}

/// A relation, and everything that a job knows about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct World {
    pub docs: BTreeMap<Id, u8>,
    /// The initial facts of a transaction, except those that depend on the definition.
    pub job: RegisteredJob,
    /// The definition of the relation, as a number that changes with it.
    pub definition: usize,
    /// The definition when all rows were last compared.
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
    /// A step that does nothing, to simulate a mistake.
    pub idle: Option<Discriminant<RefreshStep>>,
}

/// Reports whether documents with these contents are similar.
pub(super) fn similar(a: u8, b: u8) -> bool {
    a != 0 && b != 0 && a.abs_diff(b) <= 1
}

/// Returns all pairs of rows for which `wanted` is true.
pub(super) fn join(docs: &BTreeMap<Id, u8>, wanted: impl Fn(Id, Id) -> bool) -> Pairs {
    let all = docs.iter().flat_map(|a| docs.iter().map(move |b| (a, b)));
    all.filter(|((a, x), (b, y))| a < b && similar(**x, **y) && wanted(**a, **b))
        .map(|((a, _), (b, _))| (*a, *b))
        .collect()
}

/// Returns the rows that pairs connect with the given ones, which are included.
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

/// Returns the clusters of pairs, as `(cluster, member)`. A cluster is either a component, named by
/// its least row, or a star around a row that is in no cluster when its turn comes.
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
    pub(super) fn new(docs: BTreeMap<Id, u8>, job: RegisteredJob) -> Self {
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

    /// Returns the contents of the tables if they were computed from scratch.
    pub(super) fn anew(&self) -> (Pairs, Members, BTreeMap<Id, u8>) {
        let pairs = join(&self.docs, |_, _| true);
        let clusters = clusters(&pairs, self.job.whole_clusters);
        (pairs, clusters, self.docs.clone())
    }

    /// Returns the actual contents of the tables.
    pub(super) fn results(&self) -> (Pairs, Members, BTreeMap<Id, u8>) {
        (self.pairs.clone(), self.clusters.clone(), self.known.clone())
    }

    /// Reports whether nothing waits and, if the job has lists, whether each row is in the lists
    /// with its present contents. Damaged lists are rebuilt with the next batch.
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

    /// Executes a write that commits now, and that a trigger notes if there is one.
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
