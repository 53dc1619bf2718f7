//! A generalised suffix automaton: all substrings of the texts added so far (Blumer et al. 1985;
//! several texts are added by starting each at the root).
//!
//! A text of n characters adds at most 2 n states of 24 bytes, each of which holds its first edge,
//! and n + 1 further edges of 19 to 39 bytes in a table. So it takes at most 87 bytes per
//! character, and about 50 on Chinese feature codes, most of whose states have one edge. Adding a
//! text and finding the longest match of a text take O(n).

use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::hash::mix;
use crate::memory;

const DOING: &str = "indexing substrings";
/// The number of characters between two checks for a stop request.
const CHECK_EVERY: usize = 1 << 16;
/// No state, or no text.
const NONE: u32 = u32::MAX;
const NO_CHARACTER: u32 = u32::MAX;
const ROOT: u32 = 0;

/// The substrings that end at the same places. They are those suffixes of the longest substring
/// that are longer than all substrings of the linked state.
#[derive(Debug, Clone, Copy)]
struct AutomatonState {
    /// The length of the longest substring.
    length: u32,
    /// The state of the longest suffix that also ends at other places.
    link: u32,
    /// The first text that contains the substrings.
    text: u32,
    /// The character of the first edge; `NO_CHARACTER` if there is none.
    character: u32,
    /// The target of the first edge.
    to: u32,
    /// The character of the last edge that was added after the first edge; `NO_CHARACTER` if there
    /// is none.
    others: u32,
}

impl AutomatonState {
    fn new(length: u32, link: u32, text: u32) -> Self {
        Self { length, link, text, character: NO_CHARACTER, to: NONE, others: NO_CHARACTER }
    }
}

/// An edge that is not the first of its state.
#[derive(Debug, Clone, Copy)]
struct Transition {
    from: u32,
    character: u32,
    to: u32,
    /// The character of the previously added edge of the same state, if that is not the first edge.
    next: u32,
}

/// A longest common substring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// The length in characters, at least 1.
    pub length: u32,
    /// The number of the first added text that has a common substring of this length.
    pub text: u32,
}

/// The substrings of some texts.
#[derive(Debug)]
pub struct SuffixAutomaton {
    states: Vec<AutomatonState>,
    edges: HashTable<Transition>,
}

impl SuffixAutomaton {
    /// Creates an automaton without texts.
    pub fn new() -> Result<Self> {
        let mut states = Vec::new();
        memory::push(&mut states, AutomatonState::new(0, NONE, NONE), DOING)?;
        Ok(Self { states, edges: HashTable::new() })
    }

    /// Removes all texts and keeps the memory.
    pub fn clear(&mut self) {
        self.states.truncate(1);
        self.states[0] = AutomatonState::new(0, NONE, NONE);
        self.edges.clear();
    }

    /// Adds a text under a number that is greater than the numbers of all earlier texts. If memory
    /// runs out or a stop is requested, a part of the text may be indexed; the text can be added
    /// again with the same number.
    pub fn add(&mut self, text: &str, number: u32, stop: &Stop) -> Result<()> {
        let mut last = ROOT;
        for (n, c) in text.chars().enumerate() {
            if n % CHECK_EVERY == CHECK_EVERY - 1 {
                stop.check()?;
            }
            last = self.append(last, u32::from(c), number)?;
        }
        Ok(())
    }

    /// Returns the longest substring that `text`, which has `characters` characters, has in common
    /// with any of the added texts, or `None` if no common substring has at least `least`
    /// characters. Stops as soon as the result is certain.
    pub fn longest_match(
        &self,
        text: &str,
        characters: u32,
        least: u32,
        stop: &Stop,
    ) -> Result<Option<Match>> {
        let (mut state, mut length) = (ROOT, 0);
        let mut best = Match { length: least.max(1), text: NONE };
        for (c, rest) in text.chars().zip((0..characters).rev()) {
            if rest as usize % CHECK_EVERY == CHECK_EVERY - 1 {
                stop.check()?;
            }
            let to = loop {
                match self.step(state, u32::from(c)) {
                    Some(to) => break Some(to),
                    None if state == ROOT => break None,
                    None => {
                        state = self.states[state as usize].link;
                        length = self.states[state as usize].length;
                    }
                }
            };
            if let Some(to) = to {
                (state, length) = (to, length + 1);
                let first = self.states[state as usize].text;
                if length > best.length || (length == best.length && first < best.text) {
                    best = Match { length, text: first };
                }
            }
            if length + rest < best.length {
                break;
            }
        }
        Ok((best.text != NONE).then_some(best))
    }

    /// Returns the number of bytes on the heap that the texts need. Memory that
    /// [`clear`](Self::clear) kept for later texts does not count.
    pub fn bytes(&self) -> usize {
        /// The bytes of a table entry with its control byte, at a load of 7/8 to 7/16.
        const ENTRY: usize = (size_of::<Transition>() + 1) * 12 / 7;
        size_of_val(&*self.states) + self.edges.len() * ENTRY
    }

    fn hash(from: u32, character: u32) -> u64 {
        mix(u64::from(from) << 32 | u64::from(character))
    }

    fn is(from: u32, character: u32) -> impl Fn(&Transition) -> bool {
        move |edge| edge.from == from && edge.character == character
    }

    /// Returns the state that a character leads to from the state `from`.
    #[inline]
    fn step(&self, from: u32, character: u32) -> Option<u32> {
        let state = &self.states[from as usize];
        if state.character == character {
            return Some(state.to);
        }
        if state.others == NO_CHARACTER {
            return None;
        }
        self.other(from, character).map(|edge| edge.to)
    }

    fn other(&self, from: u32, character: u32) -> Option<&Transition> {
        self.edges.find(Self::hash(from, character), Self::is(from, character))
    }

    /// Adds an edge that does not exist yet.
    fn add_edge(&mut self, from: u32, character: u32, to: u32) -> Result<()> {
        let state = &mut self.states[from as usize];
        if state.character == NO_CHARACTER {
            (state.character, state.to) = (character, to);
            return Ok(());
        }
        let hash = |edge: &Transition| Self::hash(edge.from, edge.character);
        memory::attempt(DOING, || self.edges.try_reserve(1, hash))?;
        let edge = Transition { from, character, to, next: state.others };
        self.edges.insert_unique(hash(&edge), edge, hash);
        state.others = character;
        Ok(())
    }

    /// Changes the target of an existing edge.
    fn redirect(&mut self, from: u32, character: u32, to: u32) {
        let state = &mut self.states[from as usize];
        if state.character == character {
            state.to = to;
        } else if let Some(edge) = self.edges.find_mut(Self::hash(from, character), Self::is(from, character))
        {
            edge.to = to;
        }
    }

    fn add_state(&mut self, state: AutomatonState) -> Result<u32> {
        const MOST: usize = (u32::MAX - 1) as usize;
        if self.states.len() >= MOST {
            return Err(Error::TooMany { what: "characters to be indexed", limit: MOST as u64 / 2 });
        }
        memory::push(&mut self.states, state, DOING)?;
        Ok(self.states.len() as u32 - 1)
    }

    /// Returns the state of the text of state `last` with `c` appended.
    fn append(&mut self, last: u32, c: u32, text: u32) -> Result<u32> {
        let length = self.states[last as usize].length + 1;
        if let Some(to) = self.step(last, c) {
            // Another text contains the extended text.
            return if self.states[to as usize].length == length { Ok(to) } else { self.split(last, c, to) };
        }
        let new = self.add_state(AutomatonState::new(length, ROOT, text))?;
        let mut from = last;
        while from != NONE {
            if let Some(to) = self.step(from, c) {
                let fits = self.states[to as usize].length == self.states[from as usize].length + 1;
                self.states[new as usize].link = if fits { to } else { self.split(from, c, to)? };
                break;
            }
            self.add_edge(from, c, new)?;
            from = self.states[from as usize].link;
        }
        Ok(new)
    }

    /// Moves the shorter substrings of the state `whole` to a new state: those that are no longer
    /// than the longest substring of `from` with `c` appended. The edge of `c` leads from `from` to
    /// `whole`.
    fn split(&mut self, from: u32, c: u32, whole: u32) -> Result<u32> {
        let length = self.states[from as usize].length + 1;
        let original = self.states[whole as usize];
        let part = self.add_state(AutomatonState { length, others: NO_CHARACTER, ..original })?;
        let mut next = original.others;
        while let Some(&edge) = (next != NO_CHARACTER).then(|| self.other(whole, next)).flatten() {
            self.add_edge(part, edge.character, edge.to)?;
            next = edge.next;
        }
        self.states[whole as usize].link = part;
        let mut from = from;
        while from != NONE && self.step(from, c) == Some(whole) {
            self.redirect(from, c, part);
            from = self.states[from as usize].link;
        }
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the length of the longest common substring, by trying all.
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
            least in 0..6u32,
        ) {
            let stop = Stop::default();
            let mut automaton = SuffixAutomaton::new().expect("memory");
            automaton.add("before", 0, &stop).expect("memory");
            automaton.clear();
            let mut best = None;
            let mut characters = 0;
            for (number, text) in texts.iter().enumerate() {
                automaton.add(text, number as u32, &stop).expect("memory");
                characters += text.chars().count();
                let length = longest(text, &query);
                if best.map_or(0, |best: Match| best.length) < length {
                    best = Some(Match { length, text: number as u32 });
                }
                let length = query.chars().count() as u32;
                let expected = best.filter(|best| best.length >= least);
                prop_assert_eq!(automaton.longest_match(&query, length, least, &stop), Ok(expected));
            }
            prop_assert!(automaton.states.len() <= 2 * characters + 1);
            prop_assert!(automaton.edges.len() <= characters + texts.len());
        }
    }
}
