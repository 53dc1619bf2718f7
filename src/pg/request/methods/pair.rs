//! Two texts, and what a method says of them.

use std::cell::RefCell;

use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::features::FeatureSpec;
use crate::features::dictionary::Dictionary;
use crate::features::sets::collect::Collector;
use crate::features::tokens::Document;
use crate::pg::functions::building_blocks::set_of_row;
use crate::verify::overlap::shared_at_least;
use crate::workers::Stop;

/// Two texts, the one of the lesser id first.
#[derive(Debug)]
pub struct Pair<'a> {
    /// The texts.
    pub texts: [&'a str; 2],
    documents: [Document; 2],
    /// Shared tokens and those of each text, for each way to cut them that was asked for.
    shared: RefCell<Vec<(FeatureSpec, [u32; 3])>>,
}

impl<'a> Pair<'a> {
    /// Two texts as the columns of a table hold them.
    pub fn new(texts: [&'a str; 2]) -> Result<Self> {
        let [a, b] = texts.map(crate::pg::server::encoding::own);
        Ok(Self { texts, documents: [Document::Text(a?), Document::Text(b?)], shared: RefCell::default() })
    }

    /// The texts as documents.
    pub fn documents(&self) -> [&Document; 2] {
        self.documents.each_ref()
    }

    /// How many tokens the texts share, and how many each has.
    pub fn shared(&self, spec: FeatureSpec, stop: &Stop) -> Result<[u32; 3]> {
        if let Some((_, counts)) = self.shared.borrow().iter().find(|(known, _)| *known == spec) {
            return Ok(*counts);
        }
        let (mut collector, mut dictionary) = (Collector::new(spec), Dictionary::small());
        for (row, document) in (0..).zip(&self.documents) {
            collector.add_at_once(row, document, &mut dictionary, stop)?;
        }
        let (a, b) = (set_of_row(&collector, 0, stop)?, set_of_row(&collector, 1, stop)?);
        let shared = shared_at_least(&a, &b, 0).unwrap_or(0);
        // No document has more tokens than 32 bits count.
        let counts = [shared, a.len(), b.len()].map(|count| count as u32);
        self.shared.borrow_mut().push((spec, counts));
        Ok(counts)
    }
}

/// What a method says of a pair.
#[derive(Debug)]
pub struct Explanation {
    /// The similarity, none where it is not known.
    pub similarity: Option<f64>,
    /// What it is made of.
    pub evidence: Map<String, Value>,
}

impl Explanation {
    /// Says the similarity, and whether `near_duplicates` gives the pair with nothing but the method's name.
    pub fn new(similarity: f64, pair: bool) -> Self {
        Self { similarity: Some(similarity), evidence: Map::new() }.with("pair", json!(pair))
    }

    /// Says why the similarity is not known.
    pub fn unknown(why: &str) -> Self {
        Self { similarity: None, evidence: Map::new() }.with("not computed", json!(why))
    }

    /// And this.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.evidence.insert(key.to_owned(), value);
        self
    }

    /// And how many tokens both share, and each has.
    #[must_use]
    pub fn with_shared(self, [shared, left, right]: [u32; 3]) -> Self {
        self.with("shared", shared.into()).with("left", left.into()).with("right", right.into())
    }
}
