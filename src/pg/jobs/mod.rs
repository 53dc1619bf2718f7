//! Jobs that keep pairs and clusters up to date: `neardup_watch`, `neardup_refresh`,
//! `neardup_unwatch`.
//!
//! A [`job`] is a locked relation with its entry in the [`registry`](statements::registry) of the
//! extension and its [`settings`]. The [`tables`] that a job works on are found and checked, as is
//! their [`dependency`](statements::dependency); one of these tables has a [`home`] next to the
//! documents if Citus distributes the documents. [`watch`] sets up a job, and [`unwatch`] ends it.
//! In between, [`changes`] notes changed rows with the data that the session has [`remembered`], if
//! triggers see all changes under the [`definition`](statements::definition) of the relation.
//! [`refresh`] carries out the plan of `crate::jobs`, one step after the other, in only one session
//! at a time ([`session_lock`](crate::pg::procedure::session_lock)). An id in several rows is an
//! error of its own (`statements/work.rs`). The parts that SQL cannot do (pairs, clusters, stored
//! [`lists`] of rows) are Rust code, whose rows a statement stores
//! ([`supplied_rows`](crate::pg::procedure::rows)).
//!
//! Work on users' tables runs as the owner of the watched relation; work on the registry runs as
//! the owner of the extension. SQL text is never stored: [`statements`] makes it each time from the
//! OIDs of locked tables and the numbers of columns.
//! [`queries`] makes the SQL that reads rows of a relation, which also runs under the search path
//! of its owner.

mod changes;
mod hints;
mod home;
mod job;
mod lists;
mod queries;
mod refresh;
mod remembered;
mod settings;
pub(super) mod statements;
pub(super) mod tables;
mod unwatch;
mod watch;
