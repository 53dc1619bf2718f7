//! Pairs and clusters for people to look at: passages that two texts share ([`passages`]), texts side by
//! side ([`diff`]), sentences against sentences ([`dotplot`]), and a whole page ([`page`]).
//!
//! All of it is HTML that stands on its own: no scripts, nothing loaded. What comes from documents is
//! escaped ([`html`]).

pub mod diff;
pub mod dotplot;
pub mod html;
pub mod page;
pub mod passages;
