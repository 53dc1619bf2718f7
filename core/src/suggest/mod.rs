//! Suggests a method and a threshold from the documents themselves: what kind of texts they are
//! ([`profile`]), and how many pairs reach each similarity ([`curve`]); [`advice`] puts it into
//! words.

pub mod advice;
pub mod curve;
pub mod profile;
