//! Rows that are one record of a join: all that is a pair with one of them is one with each of the others.
//!
//! A group of n such rows has n · (n - 1) / 2 pairs of its own, and two groups that are similar have as many pairs as the
//! product of their sizes. None of these is written down: a graph has an edge between the first rows of the two groups, and
//! who walks it takes an edge for as many pairs as it stands for.

use crate::error::Result;
use crate::memory;
use crate::ragged::Ragged;

const DOING: &str = "grouping equal rows";

/// Which vertices are in groups of equal ones. A vertex alone is its own group.
#[derive(Debug, Default)]
pub struct EqualRows {
    /// The number of each vertex's group; [`ALONE`] of the others. Empty where all are alone.
    group: Vec<u32>,
    /// The vertices of each group, ascending.
    rows: Ragged<u32>,
    /// Whether those of a group are pairs with each other, all of similarity 1.
    are_pairs: Vec<bool>,
}

const ALONE: u32 = u32::MAX;

impl EqualRows {
    /// Of that many vertices, each alone.
    pub fn new(vertices: usize) -> Result<Self> {
        Ok(Self { group: memory::filled(ALONE, vertices, DOING)?, ..Self::default() })
    }

    /// Makes a group of two and more vertices, which are in no other one.
    pub fn push(&mut self, rows: impl IntoIterator<Item = u32>, are_pairs: bool) -> Result<()> {
        let (number, from) = (self.rows.len() as u32, self.rows.end());
        for vertex in rows {
            self.group[vertex as usize] = number;
            memory::push(&mut self.rows.values, vertex, DOING)?;
        }
        self.rows.values[from..].sort_unstable();
        self.rows.close(DOING)?;
        memory::push(&mut self.are_pairs, are_pairs, DOING)
    }

    /// Whether all vertices are alone.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows there are in groups.
    pub fn len(&self) -> usize {
        self.rows.values.len()
    }

    /// The number of a vertex's group; none of one that is alone.
    #[inline]
    pub fn number(&self, vertex: u32) -> Option<usize> {
        self.group.get(vertex as usize).filter(|&&group| group != ALONE).map(|&group| group as usize)
    }

    /// The vertices of a vertex's group, ascending; of one that is alone itself.
    #[inline]
    pub fn rows<'a>(&'a self, vertex: &'a u32) -> &'a [u32] {
        self.number(*vertex).map_or(std::slice::from_ref(vertex), |number| self.rows.get(number))
    }

    /// Where the rows of a vertex's group begin among those of all groups; none of one that is alone.
    #[inline]
    pub fn place(&self, vertex: u32) -> Option<usize> {
        self.number(vertex).map(|number| self.rows.range(number).start)
    }

    /// The vertex that stands for a group: the first of it.
    #[inline]
    pub fn first(&self, vertex: u32) -> u32 {
        self.rows(&vertex)[0]
    }

    /// How many vertices the group of a vertex has.
    #[inline]
    pub fn count(&self, vertex: u32) -> u64 {
        self.rows(&vertex).len() as u64
    }

    /// Whether the vertices of a vertex's group are pairs with each other.
    pub fn are_pairs(&self, vertex: u32) -> bool {
        self.number(vertex).is_some_and(|number| self.are_pairs[number])
    }

    /// The groups of two and more, and whether the vertices of each are pairs with each other.
    pub fn groups(&self) -> impl Iterator<Item = (&[u32], bool)> {
        self.rows.iter().zip(self.are_pairs.iter().copied())
    }

    /// Something of each of these groups, by its number.
    pub fn each_group<T>(&self, of: impl Fn(&[u32]) -> T) -> Result<Vec<T>> {
        let mut all = Vec::new();
        memory::reserve(&mut all, self.rows.len(), DOING)?;
        all.extend(self.rows.iter().map(of));
        Ok(all)
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.group) + self.rows.bytes() + memory::bytes(&self.are_pairs)
    }
}
