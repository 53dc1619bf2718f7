//! Pairs and clusters for people to look at: what two texts have in common ([`passages`], [`align`]) and in what they differ
//! ([`diff`]), texts side by side ([`side_by_side`]), sentences against sentences ([`dotplot`]), pictures for choosing a threshold
//! ([`charts`]), and a whole page ([`page`]) of pairs ([`pair`]) and clusters ([`cluster`]).
//!
//! All of that is HTML that stands on its own: no scripts, nothing loaded. What comes from documents is
//! escaped ([`html`]), also in links to them ([`link`]). For terminals there is plain text ([`terminal`]).

pub mod align;
pub mod charts;
pub mod cluster;
pub mod diff;
pub mod dotplot;
pub mod html;
pub mod link;
pub mod numbers;
pub mod page;
pub mod pair;
pub mod passages;
pub mod side_by_side;
pub mod terminal;
