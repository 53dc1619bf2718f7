//! The rows that a step takes, marked with 0 in the table of states.

use super::{Step, holds, number, run};
use crate::pg::jobs::statements::int8;
use crate::pg::query::as_user::set;
use crate::pg::server::error::Result;

/// The rows of a step.
#[derive(Debug)]
pub struct Batch {
    /// How many they are.
    pub rows: i64,
    /// Whether they are all rows that there are, of which nothing was known.
    pub everything: bool,
    /// How many rows were known; of interest only where they are not very many more, so at most [`Batch::limit`].
    pub known: i64,
    /// Whether so much has changed that clusters are made anew.
    pub most: bool,
}

impl Batch {
    /// Takes what waits; at first, where nothing is known yet or nobody told of changes, it is found. None if nothing
    /// has changed.
    pub fn take(step: &Step<'_>, first: bool, compare: bool) -> Result<Option<Self>> {
        let state = &step.tables.state;
        let name = &state.name;
        // A method that makes all pairs anew takes all changes at once.
        let most_rows = if step.method.is_whole() { i64::MAX - 1 } else { step.most_rows };
        let (mut rows, mut everything) = (None, false);
        if first {
            let unknown = holds(
                &format!("SELECT NOT EXISTS (SELECT FROM {name} WHERE change IS NULL)"),
                &[],
                &[state],
            )?;
            if unknown {
                let docs = &step.job.relation;
                let count = format!("SELECT count(*) FROM (SELECT FROM {} d LIMIT $1) d", docs.qualified);
                let count = super::statements::number(&count, &[int8(most_rows + 1)], &[docs.oid])?;
                everything = count.unwrap_or_default() <= most_rows;
            }
            if unknown || compare {
                // What waits is found again. Rows that change from now on wait for the next time.
                run(&format!("DELETE FROM {name} WHERE change = 1"), &[], &[state])?;
                rows = Some(Self::find(step, most_rows, everything)?);
            }
        }
        let rows = match rows {
            Some(rows) => rows,
            None => run(
                &format!(
                    "WITH taken AS (DELETE FROM {name} \
                         WHERE ctid = ANY (ARRAY(SELECT ctid FROM {name} WHERE change = 1 LIMIT $1)) RETURNING id) \
                     INSERT INTO {name} (id, change) SELECT DISTINCT id, 0 FROM taken"
                ),
                &[int8(most_rows)],
                &[state],
            )?,
        };
        if rows == 0 {
            return Ok(None);
        }
        let mut batch = Self { rows, everything, known: 0, most: true };
        if !everything {
            let limit = batch.limit();
            let many = "SELECT CASE WHEN reltuples > $1 * 4 THEN $1 END FROM pg_class WHERE oid = $2";
            let many =
                super::statements::number(many, &[int8(limit), super::statements::oid(state.oid)], &[])?;
            batch.known = match many {
                Some(many) => many,
                None => {
                    let count =
                        format!("SELECT count(*) FROM (SELECT FROM {name} WHERE change IS NULL LIMIT $1) s");
                    number(&count, &[int8(limit)], &[state])?.unwrap_or_default()
                }
            };
        }
        batch.most = step.method.is_whole() || rows.saturating_mul(5) > batch.known;
        Ok(Some(batch))
    }

    /// Puts all rows, or those that are not the same as when they were last seen, into the table; how many are in the batch.
    fn find(step: &Step<'_>, most_rows: i64, everything: bool) -> Result<i64> {
        let state = &step.tables.state;
        let (name, equals, source) = (&state.name, &step.equals, step.source()?);
        let relations = [state.oid, step.job.relation.oid];
        if everything {
            let all = format!("INSERT INTO {name} (id, hash) SELECT id, hash FROM {source} d");
            return Ok(super::statements::run(&all, &[], &relations)? as i64);
        }
        let changed = format!(
            "INSERT INTO {name} (id, change) SELECT COALESCE(d.id, s.id), (row_number() OVER () > $1)::int::int2 \
             FROM {source} d FULL JOIN (SELECT id, hash FROM {name} WHERE change IS NULL) s ON d.id {equals} s.id \
             WHERE d.id IS NULL OR s.id IS NULL OR d.hash IS DISTINCT FROM s.hash"
        );
        Ok((super::statements::run(&changed, &[int8(most_rows)], &relations)? as i64).min(most_rows))
    }

    /// How many known rows are counted at most.
    fn limit(&self) -> i64 {
        self.rows.saturating_mul(20).saturating_add(1)
    }

    /// Whether rows are many, and a part of the known ones that is not small.
    fn is_large(&self) -> bool {
        self.rows > 1000 && self.rows.saturating_mul(20) > self.known
    }

    /// Whether its rows are few enough to be looked up in lists.
    pub fn is_small(&self) -> bool {
        self.rows.saturating_mul(4) < self.known
    }

    /// Prepares the statements to come: the planner does not know how many rows are in the batch, and indexes are for
    /// few of them.
    pub fn plan(&self, step: &Step<'_>) -> Result<()> {
        set(c"enable_nestloop", if self.is_large() { c"off" } else { c"on" });
        if !self.most && !step.settings.whole_clusters() {
            super::clusters::reach(step, -1, "{0}")?;
        }
        Ok(())
    }

    /// Looks at the rows of the batch anew: whether there are no others, and how many there are.
    pub fn look_again(&self, step: &Step<'_>) -> Result<(bool, i64)> {
        if self.everything {
            return Ok((true, self.rows));
        }
        let state = &step.tables.state;
        let (name, equals) = (&state.name, &step.equals);
        run(
            &format!(
                "DELETE FROM {name} WHERE change IS NULL AND id {equals} ANY (ARRAY(SELECT id FROM {name} WHERE change = 0))"
            ),
            &[],
            &[state],
        )?;
        let alone =
            holds(&format!("SELECT NOT EXISTS (SELECT FROM {name} WHERE change IS NULL)"), &[], &[state])?;
        let sql = format!(
            "INSERT INTO {name} (id, hash) SELECT d.id, d.hash FROM {} d JOIN {name} b ON b.change = 0 AND b.id {equals} d.id",
            step.source()?
        );
        let there = super::statements::run(&sql, &[], &[state.oid, step.job.relation.oid])? as i64;
        Ok((alone, there))
    }
}
