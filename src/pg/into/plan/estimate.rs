//! Estimates what a call takes on each node, from what its steps took for a sample of the
//! documents.
//!
//! The sample is as in [`neardup_core::methods::estimate`]: each document is in it with the same
//! probability. So what a step does for each document is multiplied by N / s, for s of N documents,
//! and what it does for each pair of documents by N(N − 1) / s(s − 1). The processor seconds of the
//! steps are measured on the sample. What is added for storing and moving rows is a constant for
//! each row and each byte of the place, of a processor on which a million documents of 90 words
//! take 14 seconds in one transaction (benches/README.md, "Joins in parts").

/// What the steps of a call did for a sample of the documents.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sampled {
    /// The number of all documents.
    pub documents: u64,
    /// The number of documents in the sample.
    pub sampled: u64,
    /// The number of bytes of their texts.
    pub text_bytes: u64,
    /// The number of bytes of their sets.
    pub set_bytes: u64,
    /// The number of distinct sets that may be similar to others.
    pub distinct: u64,
    /// The number of pairs of documents with equal sets.
    pub equal: u64,
    /// The number of rows of parts.
    pub rows: u64,
    /// The number of bytes of the bitmaps and prefixes in these rows.
    pub row_bytes: u64,
    /// The number of candidates, each as often as parts have it.
    pub joined: u64,
    /// The number of distinct candidates.
    pub candidates: u64,
    /// The number of candidates that were compared.
    pub compared: u64,
    /// The number of these that are pairs.
    pub similar: u64,
    /// The bytes of an id.
    pub id_bytes: u64,
    /// The processor seconds of the steps.
    pub seconds: Seconds,
}

/// The processor seconds of the steps for a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// Cutting documents into sets.
    pub sets: f64,
    /// The order of tokens, which the call makes of a sample, too.
    pub ranks: f64,
    /// The rows of the parts.
    pub groups: f64,
    /// Joining the parts.
    pub join: f64,
    /// Comparing the candidates that were compared.
    pub compare: f64,
}

/// Where the steps of a call run.
#[derive(Debug, Clone, PartialEq)]
pub enum StepNodes {
    /// On this server, in parts.
    Here,
    /// On servers, of which each has this share of the documents.
    Servers(Vec<f64>),
    /// On nodes of Citus, of which each has the first share of the documents, and the second of the
    /// working tables.
    Citus(Vec<(f64, f64)>),
}

/// What a call takes on a node.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NodeWork {
    /// The number of documents there.
    pub documents: u64,
    /// The number of bytes of rows that leave the node.
    pub sent: u64,
    /// The number of bytes of rows that come to the node.
    pub received: u64,
    /// The number of bytes of working tables there before they are dropped.
    pub disk: u64,
    /// The processor seconds.
    pub seconds: f64,
}

/// The estimate for a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallEstimate {
    /// The number of distinct candidates.
    pub candidates: u64,
    /// The number of pairs.
    pub pairs: u64,
    /// The work of the nodes: of this server, and of each of the others.
    pub nodes: Vec<NodeWork>,
}

/// The seconds for a row that a step writes and for a byte of it: in tables of this server, in a
/// repartition of Citus, and over postgres_fdw on either side.
struct StepCost {
    row: f64,
    byte: f64,
}

const HERE: StepCost = StepCost { row: 0.8e-6, byte: 2.0e-9 };
const CITUS: StepCost = StepCost { row: 3.0e-6, byte: 10.0e-9 };
const CARRIED: StepCost = StepCost { row: 1.2e-6, byte: 3.0e-9 };
const SERVED: StepCost = StepCost { row: 1.6e-6, byte: 4.0e-9 };

impl StepCost {
    fn seconds(&self, (rows, bytes): (f64, f64)) -> f64 {
        self.row * rows + self.byte * bytes
    }
}

/// The bytes that a table has for each row besides its columns.
const HEADER: f64 = 28.0;

/// The rows and bytes that go through the steps, of all documents.
struct Flow {
    documents: f64,
    texts: (f64, f64),
    /// Of the sets with their numbers, ids and digests.
    sets: (f64, f64),
    members: (f64, f64),
    routes: (f64, f64),
    /// Of candidates as parts give them.
    joined: (f64, f64),
    candidates: (f64, f64),
    /// Of candidates with one of their sets.
    halves: (f64, f64),
    pairs: (f64, f64),
    result: (f64, f64),
    seconds: Seconds,
}

impl Flow {
    fn new(of: &Sampled) -> Self {
        let sampled = of.sampled.max(1) as f64;
        let documents = of.documents.max(of.sampled) as f64;
        let each = documents / sampled;
        let pairs = each * (documents - 1.0) / (sampled - 1.0).max(1.0);
        let id = of.id_bytes as f64;
        let mean = of.set_bytes as f64 / sampled;
        let rows = |rows: f64, bytes: f64| (rows, rows * bytes);
        let routes = of.rows as f64 * each;
        let share = if of.compared > 0 { of.similar as f64 / of.compared as f64 } else { 0.0 };
        let candidates = of.candidates as f64 * pairs;
        let similar = candidates * share;
        let compared = if of.compared > 0 { candidates / of.compared as f64 } else { 0.0 };
        let Seconds { sets, ranks, groups, join, compare } = of.seconds;
        Self {
            documents,
            texts: (documents, of.text_bytes as f64 * each + id * documents),
            sets: (documents, of.set_bytes as f64 * each + documents * (48.0 + id)),
            members: rows(documents, 16.0 + id),
            routes: (routes, of.row_bytes as f64 * each + routes * 16.0),
            joined: rows(of.joined as f64 * pairs, 16.0),
            candidates: rows(candidates, 16.0),
            halves: rows(candidates, mean + 16.0),
            pairs: rows(similar, 24.0),
            result: rows(similar + of.equal as f64 * pairs, 8.0 + 2.0 * id),
            seconds: Seconds {
                sets: sets * each,
                ranks,
                groups: groups * each,
                join: join * each,
                compare: compare * compared,
            },
        }
    }

    /// Returns the bytes of tables with these rows.
    fn stored(tables: &[(f64, f64)]) -> f64 {
        tables.iter().map(|(rows, bytes)| rows * HEADER + bytes).sum()
    }

    /// Returns the rows and the bytes of all of these.
    fn sum(flows: &[(f64, f64)]) -> (f64, f64) {
        flows.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
    }
}

/// Returns the estimate for a call.
pub fn estimate(of: &Sampled, layout: &StepNodes) -> CallEstimate {
    let flow = Flow::new(of);
    let nodes = match layout {
        StepNodes::Here => vec![here(&flow)],
        StepNodes::Servers(shares) => servers(&flow, shares),
        StepNodes::Citus(shares) => citus(&flow, shares),
    };
    CallEstimate { candidates: whole(flow.candidates.0), pairs: whole(flow.result.0), nodes }
}

fn here(of: &Flow) -> NodeWork {
    /// The bytes of a value that has many rows of a part, and those that a row has less in it.
    const PACKED: f64 = 1800.0;
    const SAVED: f64 = 10.0;
    let Seconds { sets, ranks, groups, join, compare } = of.seconds;
    let (rows, bytes) = of.routes;
    let routes = ((bytes / PACKED).ceil(), bytes - SAVED * rows);
    let written = [of.sets, of.members, routes, of.joined, of.pairs, of.result];
    NodeWork {
        documents: whole(of.documents),
        disk: whole(Flow::stored(&written[..5])),
        seconds: sets + ranks + groups + join + compare + HERE.seconds(Flow::sum(&written)),
        ..NodeWork::default()
    }
}

/// The coordinator cuts the documents and makes the rows of the parts, and all rows pass through
/// it. Binary values are sent as text of twice their length.
fn servers(of: &Flow, shares: &[f64]) -> Vec<NodeWork> {
    let Seconds { sets, ranks, groups, join, compare } = of.seconds;
    let sent = |(rows, bytes): (f64, f64)| (rows, 2.0 * bytes);
    // Digests are read to find equal sets.
    let digests = (of.documents, of.documents * 90.0);
    let to_servers = Flow::sum(&[sent(of.sets), of.members, sent(of.routes), of.candidates, sent(of.halves)]);
    let stored_sets = sent((of.sets.0, of.sets.1 - of.documents * 40.0));
    let from_servers = Flow::sum(&[digests, stored_sets, of.joined, sent(of.halves), of.pairs, of.members]);
    let nodes = shares.len().max(1) as f64;
    let coordinator = NodeWork {
        documents: 0,
        sent: whole(to_servers.1),
        received: whole(of.texts.1 + from_servers.1),
        disk: whole(Flow::stored(&[of.pairs])),
        seconds: sets
            + ranks
            + groups
            + CARRIED.seconds(of.texts)
            + CARRIED.seconds(to_servers)
            + CARRIED.seconds(from_servers),
    };
    let server = |share: &f64| NodeWork {
        documents: whole(of.documents * share),
        sent: whole(of.texts.1 * share + from_servers.1 / nodes),
        received: whole(to_servers.1 / nodes),
        disk: whole(Flow::stored(&[of.sets, of.members, of.routes, of.candidates, of.halves]) / nodes),
        seconds: (join + compare + SERVED.seconds(to_servers)) / nodes,
    };
    [coordinator].into_iter().chain(shares.iter().map(server)).collect()
}

/// Rows go from node to node. The documents are cut where they are.
fn citus(of: &Flow, shares: &[(f64, f64)]) -> Vec<NodeWork> {
    let Seconds { sets, ranks, groups, join, compare } = of.seconds;
    let later = [of.routes, of.joined, of.halves, of.pairs, of.result];
    let written = Flow::sum(&[&[of.sets, of.members, of.joined], &later[..]].concat());
    let later = Flow::sum(&later).1;
    let stored = Flow::stored(&[of.sets, of.members, of.routes, of.joined, of.halves, of.pairs]);
    let coordinator = NodeWork::default();
    let node = |&(documents, tables): &(f64, f64)| NodeWork {
        documents: whole(of.documents * documents),
        // What stays on the node does not leave it.
        sent: whole((of.sets.1 * documents + later * tables) * (1.0 - tables)),
        received: whole(of.sets.1 * (1.0 - documents) * tables + later * (1.0 - tables) * tables),
        disk: whole(stored * tables),
        seconds: sets * documents + (groups + join + compare + ranks + CITUS.seconds(written)) * tables,
    };
    [coordinator].into_iter().chain(shares.iter().map(node)).collect()
}

/// Rounds a number that is not negative; a number that is too large becomes the largest bigint.
fn whole(number: f64) -> u64 {
    // A conversion of a float saturates.
    (number.round() as u64).min(i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(documents: u64) -> Sampled {
        Sampled {
            documents,
            sampled: 100,
            text_bytes: 60_000,
            set_bytes: 70_000,
            distinct: 90,
            equal: 10,
            rows: 400,
            row_bytes: 8_000,
            joined: 60,
            candidates: 50,
            compared: 50,
            similar: 20,
            id_bytes: 8,
            seconds: Seconds { sets: 1.0, ranks: 0.5, groups: 2.0, join: 3.0, compare: 0.1 },
        }
    }

    #[test]
    fn a_sample_of_all_documents_is_the_call() {
        let of = estimate(&sampled(100), &StepNodes::Here);
        assert_eq!((of.candidates, of.pairs, of.nodes.len()), (50, 30, 1));
        let NodeWork { documents, sent, received, disk, seconds } = of.nodes[0];
        assert_eq!((documents, sent, received), (100, 0, 0));
        // The sets, members, rows of parts, candidates and pairs.
        assert_eq!(disk, 75_600 + 2_400 + 10_400 + 960 + 480 + 28 * (100 + 100 + 8 + 60 + 20));
        assert!((6.6..6.61).contains(&seconds), "{seconds}");
    }

    #[test]
    fn pairs_grow_with_the_square_and_documents_do_not() {
        let of = estimate(&sampled(1000), &StepNodes::Here);
        // 999,000 pairs of documents for 9,900 of the sample.
        assert_eq!((of.candidates, of.pairs), (5045, 3027));
        assert!((60.5..61.0 + 0.1 * 999.0 / 9.9).contains(&of.nodes[0].seconds));
    }

    #[test]
    fn what_a_node_sends_another_one_receives() {
        for layout in [
            StepNodes::Servers(vec![0.5, 0.2, 0.3]),
            StepNodes::Citus(vec![(0.5, 0.25), (0.1, 0.25), (0.4, 0.25), (0.0, 0.25)]),
            StepNodes::Citus(vec![(1.0, 0.0), (0.0, 1.0)]),
        ] {
            let of = estimate(&sampled(1_000_000), &layout);
            let sum = |of_node: fn(&NodeWork) -> u64| of.nodes.iter().map(of_node).sum::<u64>();
            let (sent, received) = (sum(|node| node.sent), sum(|node| node.received));
            assert!(sent.abs_diff(received) < 10, "{layout:?}: {sent} {received}");
            assert!(sum(|node| node.documents).abs_diff(1_000_000) < 10);
        }
    }

    #[test]
    fn nothing_and_too_much() {
        let none = estimate(&Sampled::default(), &StepNodes::Servers(vec![1.0]));
        assert_eq!((none.candidates, none.pairs), (0, 0));
        assert!(none.nodes.iter().all(|node| node.seconds.is_finite()));
        let all = estimate(&sampled(u64::MAX), &StepNodes::Here);
        assert_eq!(all.candidates, i64::MAX as u64);
        assert_eq!(estimate(&sampled(0), &StepNodes::Servers(Vec::new())).nodes.len(), 1);
    }
}
