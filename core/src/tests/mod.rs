//! Tests of all engines, and what tests share.

pub(crate) mod edited_texts;
pub(crate) mod stops;
