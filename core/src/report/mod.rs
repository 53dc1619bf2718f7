//! Shows pairs and clusters to people.
//!
//! There are the common parts of two texts ([`passages`], [`align`]) and their differences
//! ([`diff`]), texts side by side ([`side_by_side`]), sentences against sentences ([`dotplot`]),
//! charts for choosing a threshold ([`charts`]), and a whole page ([`page`]) of pairs ([`pair`])
//! that can be answered, clusters ([`cluster`]) and runs that many documents have ([`facts`]).
//!
//! The output is self-contained HTML: it loads nothing, and runs nothing but the script of the
//! answers. Content of documents is escaped ([`html`]), also in links to documents ([`link`]). For
//! terminals there is plain text ([`terminal`]).

pub mod align;
mod answers;
pub mod charts;
pub mod cluster;
pub mod diff;
pub mod dotplot;
pub mod facts;
pub mod html;
pub mod link;
pub mod numbers;
pub mod page;
pub mod pair;
pub mod passages;
pub mod side_by_side;
pub mod terminal;
