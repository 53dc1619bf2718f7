//! Pairs and signatures into groups of documents: perhaps-similar sets ([`perhaps_similar`]).

pub mod perhaps_similar;
