//! Pairs and clusters for people to look at: passages that two texts share ([`passages`]), texts side by
//! side ([`diff`]), sentences against sentences ([`dotplot`]), and a whole page ([`page`]).
//!
//! All of that is HTML that stands on its own: no scripts, nothing loaded. What comes from documents is
//! escaped ([`html`]). For terminals there is plain text ([`terminal`]).

pub mod diff;
pub mod dotplot;
pub mod html;
pub mod page;
pub mod passages;
pub mod terminal;
