//! The access method `signature`. docs/design/signature-index.md is its description.
//!
//! What is on its pages ([`layout`]), the pages and their log records ([`pages`]), the lists made of them ([`storage`]);
//! what an operator class makes of a column and of a query ([`opclass`]); what the server calls ([`am`]), and users for
//! themselves ([`admin`]).

pub(super) mod admin;
pub(super) mod am;
pub(super) mod layout;
pub(super) mod opclass;
pub(super) mod pages;
pub(super) mod storage;

pub(super) use layout::format::VERSION_LISTS as FORMAT;
pub(super) use opclass::options::define;
