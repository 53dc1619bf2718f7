//! What several tests need: cases, corpora, and how a method is run.

pub mod cases;
pub mod corpora;
pub mod frequent_words;
pub mod methods;
pub mod pages;
pub mod run;
pub mod run_cases;
pub mod runs;
pub mod sets;
pub mod sites;
