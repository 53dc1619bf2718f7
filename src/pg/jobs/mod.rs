//! Jobs that keep pairs and clusters up to date: `neardup_watch`, `neardup_refresh`, `neardup_unwatch`.
//!
//! A [`job`] is a locked relation with what the [`registry`] of the extension and the [`settings`] say of it; the tables that it
//! works on are found and checked in [`tables`], [`foreign_code`] and [`dependency`], and one of them has a [`home`] with the documents where
//! Citus spreads these. [`watch`] sets a job up, [`unwatch`] ends
//! it. Between them [`changes`] notes changed rows, by what the session has [`remembered`], if triggers see all of them as the
//! [`definition`] of the relation is; and
//! [`refresh`] carries out what `crate::jobs` plans, one of the [`steps`] after the other, in which only one session is at a
//! time ([`session_lock`](crate::pg::procedure::session_lock)). What SQL cannot do ([`pairs`], [`clusters`], stored [`lists`] of rows) is
//! Rust, whose rows a statement stores ([`supplied_rows`]). [`former`] has symbols that an older SQL asks for.
//!
//! Work on users' tables runs as the owner of the watched relation, work on the registry as the owner of the extension. No SQL
//! text is kept anywhere: [`statements`] makes it anew each time, of the numbers of tables that are locked and of columns;
//! [`queries`] that of what reads rows of a relation, also under the search path of its owner.

mod changes;
mod chosen_rows;
mod clusters;
mod definition;
mod dependency;
mod foreign_code;
mod former;
mod hash;
mod hints;
mod home;
mod job;
mod lists;
mod pairs;
mod queries;
mod refresh;
mod registry;
mod remembered;
mod settings;
pub(super) mod statements;
mod steps;
mod supplied_rows;
pub(super) mod tables;
mod unwatch;
mod upkeep;
mod watch;
