//! A generalised suffix automaton: all substrings of the texts added so far (Blumer et al. 1985; of several
//! texts by starting each at the root).
//!
//! A text of n characters adds at most 2 n states of 16 bytes and 3 n edges of 16 bytes, each with 5 to 12 bytes
//! in a table: at most 116 bytes a character, about 70 on Chinese feature codes. Adding a text and looking for the
//! longest match in one take O(n).

use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::hash::mix;
use crate::memory;

const DOING: &str = "indexing substrings";
/// No state, no edge.
const NONE: u32 = u32::MAX;
const ROOT: u32 = 0;

/// Substrings that end at the same places: all suffixes of the longest of them down to those of the link.
#[derive(Debug, Clone, Copy)]
struct State {
    /// The length of the longest.
    length: u32,
    /// The state of the longest suffix that ends elsewhere, too.
    link: u32,
    /// The first text that has them.
    text: u32,
    /// The first of the edges from here.
    edges: u32,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    from: u32,
    character: char,
    to: u32,
    /// The next edge of the same state.
    next: u32,
}

/// A longest common substring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Its length in characters, at least 1.
    pub length: u32,
    /// The number of the first text that was added and has a common substring of this length.
    pub text: u32,
}

/// The substrings of some texts.
#[derive(Debug)]
pub struct SuffixAutomaton {
    states: Vec<State>,
    edges: Vec<Edge>,
    table: HashTable<u32>,
}

impl SuffixAutomaton {
    /// No text.
    pub fn new() -> Result<Self> {
        let mut states = Vec::new();
        memory::push(&mut states, State { length: 0, link: NONE, text: NONE, edges: NONE }, DOING)?;
        Ok(Self { states, edges: Vec::new(), table: HashTable::new() })
    }

    /// Forgets all texts, and keeps the memory.
    pub fn clear(&mut self) {
        self.states.truncate(1);
        self.states[0].edges = NONE;
        self.edges.clear();
        self.table.clear();
    }

    /// Adds a text with a number, greater than those before. Out of room it may be there in part.
    pub fn add(&mut self, text: &str, number: u32) -> Result<()> {
        let mut last = ROOT;
        for c in text.chars() {
            last = self.append(last, c, number)?;
        }
        Ok(())
    }

    /// The longest substring that `text` has in common with any of the texts; none if there is none.
    pub fn longest_match(&self, text: &str) -> Option<Match> {
        let (mut state, mut length) = (ROOT, 0);
        let mut best = Match { length: 0, text: NONE };
        for c in text.chars() {
            let to = loop {
                match self.edge(state, c) {
                    Some(edge) => break Some(self.edges[edge as usize].to),
                    None if state == ROOT => break None,
                    None => {
                        state = self.states[state as usize].link;
                        length = self.states[state as usize].length;
                    }
                }
            };
            let Some(to) = to else { continue };
            (state, length) = (to, length + 1);
            let first = self.states[state as usize].text;
            if length > best.length || (length == best.length && first < best.text) {
                best = Match { length, text: first };
            }
        }
        (best.length > 0).then_some(best)
    }

    /// Whether there is no substring.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Bytes on the heap that the texts need; what [`clear`](Self::clear) kept for others does not count.
    pub fn bytes(&self) -> usize {
        /// Of an entry of the table with its control byte, at a load of 7/8 to 7/16.
        const ENTRY: usize = 12;
        size_of_val(&*self.states) + self.edges.len() * (size_of::<Edge>() + ENTRY)
    }

    fn hash(from: u32, character: char) -> u64 {
        mix(u64::from(from) << 32 | u64::from(u32::from(character)))
    }

    fn edge(&self, from: u32, character: char) -> Option<u32> {
        let is = |edge: &u32| {
            let edge = &self.edges[*edge as usize];
            edge.from == from && edge.character == character
        };
        self.table.find(Self::hash(from, character), is).copied()
    }

    fn add_edge(&mut self, from: u32, character: char, to: u32) -> Result<()> {
        let number = self.edges.len() as u32;
        let next = self.states[from as usize].edges;
        memory::push(&mut self.edges, Edge { from, character, to, next }, DOING)?;
        let edges = &self.edges;
        let hash = |edge: &u32| Self::hash(edges[*edge as usize].from, edges[*edge as usize].character);
        self.table.try_reserve(1, hash).map_err(|_| Error::OutOfMemory { doing: DOING })?;
        self.table.insert_unique(Self::hash(from, character), number, hash);
        self.states[from as usize].edges = number;
        Ok(())
    }

    fn add_state(&mut self, state: State) -> Result<u32> {
        // Each state has an edge to it, so that edges are counted, too.
        const MOST: usize = (u32::MAX / 2) as usize;
        if self.edges.len() >= MOST {
            return Err(Error::TooMany { what: "characters to be indexed", limit: MOST as u64 / 3 });
        }
        memory::push(&mut self.states, state, DOING)?;
        Ok(self.states.len() as u32 - 1)
    }

    /// The state of the text that `c` makes of the text of state `last`.
    fn append(&mut self, last: u32, c: char, text: u32) -> Result<u32> {
        let length = self.states[last as usize].length + 1;
        if let Some(edge) = self.edge(last, c) {
            // Another text had it.
            let to = self.edges[edge as usize].to;
            return if self.states[to as usize].length == length {
                Ok(to)
            } else {
                self.split(last, c, edge)
            };
        }
        let new = self.add_state(State { length, link: ROOT, text, edges: NONE })?;
        let mut from = last;
        while from != NONE {
            if let Some(edge) = self.edge(from, c) {
                let to = self.edges[edge as usize].to;
                let fits = self.states[to as usize].length == self.states[from as usize].length + 1;
                self.states[new as usize].link = if fits { to } else { self.split(from, c, edge)? };
                break;
            }
            self.add_edge(from, c, new)?;
            from = self.states[from as usize].link;
        }
        Ok(new)
    }

    /// Makes a state of its own of those substrings of the state behind `edge` that are not longer than what
    /// `from` and the character `c` make.
    fn split(&mut self, from: u32, c: char, edge: u32) -> Result<u32> {
        let whole = self.edges[edge as usize].to;
        let length = self.states[from as usize].length + 1;
        let part = self.add_state(State { length, edges: NONE, ..self.states[whole as usize] })?;
        let mut next = self.states[whole as usize].edges;
        while next != NONE {
            let Edge { character, to, next: following, .. } = self.edges[next as usize];
            self.add_edge(part, character, to)?;
            next = following;
        }
        self.states[whole as usize].link = part;
        let mut from = from;
        while from != NONE {
            match self.edge(from, c) {
                Some(edge) if self.edges[edge as usize].to == whole => self.edges[edge as usize].to = part,
                _ => break,
            }
            from = self.states[from as usize].link;
        }
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The length of the longest common substring, by trying all.
    fn longest(a: &str, b: &str) -> u32 {
        let a: Vec<char> = a.chars().collect();
        let b: Vec<char> = b.chars().collect();
        let run = |i: usize, j: usize| a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
        let runs = (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j)));
        runs.map(|(i, j)| run(i, j)).max().unwrap_or(0) as u32
    }

    proptest! {
        #[test]
        fn matches_are_those_of_all_pairs(
            texts in prop::collection::vec("[ab]{0,12}|[a-d字]{0,20}", 0..12),
            query in "[ab]{0,12}|[a-d字]{0,20}",
        ) {
            let mut automaton = SuffixAutomaton::new().expect("memory");
            automaton.add("before", 0).expect("memory");
            automaton.clear();
            let mut best = None;
            let mut characters = 0;
            for (number, text) in texts.iter().enumerate() {
                automaton.add(text, number as u32).expect("memory");
                characters += text.chars().count();
                let length = longest(text, &query);
                if best.map_or(0, |best: Match| best.length) < length {
                    best = Some(Match { length, text: number as u32 });
                }
                prop_assert_eq!(automaton.longest_match(&query), best);
            }
            prop_assert!(automaton.states.len() <= 2 * characters + 1);
            prop_assert!(automaton.edges.len() <= 3 * characters + 1);
        }
    }
}
