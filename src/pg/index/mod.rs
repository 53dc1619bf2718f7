//! The access method `signature`. docs/design/signature-index.md describes it.
//!
//! - [`layout`]: the contents of its pages.
//! - [`pages`]: the pages and their WAL records.
//! - [`storage`]: the lists made of the pages.
//! - [`families`]: the operator classes, which make keys of a column's values and of a query.
//! - [`am`]: the functions that the server calls.
//! - [`admin`]: the functions that users call.

pub(super) mod admin;
pub(super) mod am;
pub(super) mod families;
pub(super) mod layout;
pub(super) mod pages;
pub(super) mod storage;

pub(super) use families::options::define;
pub(super) use layout::format::FORMAT;
