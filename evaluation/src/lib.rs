//! What the evaluations share: corpora with labels, made pages, intervals, tables and plots.

pub mod bootstrap;
pub mod chart;
#[path = "../../core/tests/common/corpora.rs"]
pub mod corpora;
pub mod labels;
pub mod log_plot;
pub mod made_corpora;
#[path = "../../core/tests/common/pages.rs"]
pub mod pages;
pub mod plot;
#[path = "../../benches/common/processor.rs"]
pub mod processor;
#[path = "../../core/tests/common/sites/mod.rs"]
pub mod sites;
pub mod small;
