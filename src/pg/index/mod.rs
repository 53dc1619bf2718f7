//! The access method `signature`. docs/design/signature-index.md is its description.
//!
//! What is on its pages ([`layout`]), the pages and their log records ([`pages`]), the lists made of them ([`storage`]);
//! what an operator class makes of a column and of a query ([`opclass`]); what the server calls ([`am`]), and users for
//! themselves ([`admin`]).

pub mod admin;
pub mod am;
pub mod layout;
pub mod opclass;
pub mod pages;
pub mod storage;

pub use opclass::options::define;
