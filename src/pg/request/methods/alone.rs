//! All methods by name, of which `combined` is made of the others.

use super::{codes, runs, sets, signatures, sketches, tlcs};
use crate::pg::request::arguments::Arguments;
use crate::pg::server::error::Result;
use neardup_core::methods::Method;

/// A function that reads a method's parameters.
pub(crate) type Parse = fn(&mut Arguments<'_>) -> Result<Box<dyn Method>>;

/// The method that is made of others.
pub(crate) const COMBINED: &str = "combined";

/// All methods by name, in the order in which hints list them. `combined` has no function here.
pub(super) const METHODS: &[(&str, Option<Parse>)] = &[
    ("jaccard", Some(sets::parse)),
    ("cosine", Some(sets::parse)),
    ("dice", Some(sets::parse)),
    ("overlap", Some(sets::parse)),
    ("containment", Some(sets::parse)),
    ("hamming", Some(sets::parse)),
    ("edit", Some(sets::parse_edit)),
    ("tlcs", Some(tlcs::parse)),
    ("lcs", Some(tlcs::parse)),
    ("runs", Some(runs::parse)),
    ("minhash", Some(sketches::parse)),
    ("simhash", Some(sketches::parse)),
    ("shingling", Some(sketches::parse)),
    (COMBINED, None),
    ("imatch", Some(signatures::parse_imatch)),
    ("spotsigs", Some(signatures::parse_spotsigs)),
    ("exact_text", Some(sketches::parse)),
    ("title", Some(sketches::parse_title)),
    ("repeatability", Some(codes::parse)),
    ("exact_code", Some(codes::parse)),
];
