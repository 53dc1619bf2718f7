//! The arguments of `near_duplicates` and the functions like it, checked and completed with their
//! defaults.

mod arguments;
pub(crate) mod example;
pub(crate) mod features;
pub(crate) mod form;
pub(crate) mod in_parts;
mod join;
mod limits;
pub(crate) mod methods;
mod nearest_of_each;
mod options;
mod passages;
pub(crate) mod runs;
mod tables;
pub(super) mod tokenizer;
pub(crate) mod weights;

pub(crate) use arguments::ClusteringArguments;
pub(crate) use example::such_as;
pub(crate) use join::{Request, no_normalization_of_pages};
pub(crate) use nearest_of_each::NearestRequest;
pub(crate) use options::sample_size;
pub(crate) use passages::{PassageArguments, PassageRequest, wanted};
pub(crate) use runs::RunsRequest;
pub(crate) use tokenizer::{HtmlPages, plain_tokenizer};
