//! Tests inside a server: what SQL says of random tables, against all pairs in plain SQL.

mod arguments;
mod forms;
mod notices;
mod passages;

use pgrx::prelude::*;

#[pg_schema]
mod tests {
    use super::*;

    const SEEDS: [i32; 3] = [1, 20, 300];

    /// Fills `docs` with texts of few words, many of them alike, some empty, some NULL.
    fn fill(seed: i32) {
        Spi::run(&format!(
            "DROP TABLE IF EXISTS docs CASCADE;
             CREATE TABLE docs AS
             SELECT i AS id, CASE WHEN i % 17 = 0 THEN NULL WHEN i % 13 = 0 THEN '' ELSE (
                 SELECT string_agg(chr(97 + hashint4(i / 3 * 100 + j + {seed}) % 7 + 7), ' ')
                 FROM generate_series(1, 1 + i % 11) j) END AS body
             FROM generate_series(1, 150) i ORDER BY hashint4(i);
             ALTER TABLE docs ADD PRIMARY KEY (id)"
        ))
        .expect("the table is made");
    }

    fn same(seed: i32, call: &str, oracle: &str) {
        let sql = format!(
            "SELECT count(*), count(*) FILTER (WHERE f.left_id IS NULL OR t.left_id IS NULL
                 OR f.similarity <> t.similarity)
             FROM (SELECT * FROM {call}) f FULL JOIN ({oracle}) t USING (left_id, right_id)"
        );
        let (pairs, wrong) = Spi::get_two::<i64, i64>(&sql).expect("both run");
        assert!(pairs.unwrap() > 0, "seed {seed}: {call} finds pairs");
        assert_eq!(wrong, Some(0), "seed {seed}: {call}");
    }

    fn oracle(measure: &str, threshold: f64) -> String {
        format!(
            "SELECT a.id::bigint AS left_id, b.id::bigint AS right_id, s AS similarity
             FROM docs a JOIN docs b ON a.id < b.id, LATERAL (SELECT {measure}) m(s)
             WHERE s >= {threshold}::float8"
        )
    }

    #[pg_test]
    fn every_measure_equals_all_pairs() {
        for seed in SEEDS {
            fill(seed);
            for threshold in [0.3, 0.5, 2.0 / 3.0, 0.8, 1.0] {
                for (method, measure) in [
                    ("jaccard", "jaccard(a.body, b.body)"),
                    ("cosine", "cosine(a.body, b.body)"),
                    ("dice", "dice(a.body, b.body)"),
                    ("overlap", "overlap(a.body, b.body)"),
                    ("containment", "overlap(a.body, b.body)"),
                ] {
                    let call = format!("near_duplicates('docs', {threshold}, method => '{method}')");
                    same(seed, &call, &oracle(measure, threshold));
                }
                let call = format!("near_duplicates('docs', {threshold}, shingle => 3)");
                same(seed, &call, &oracle("resemblance(a.body, b.body, 3)", threshold));
            }
        }
    }

    #[pg_test]
    fn two_tables_equal_all_pairs() {
        for seed in SEEDS {
            fill(seed);
            Spi::run("CREATE TABLE other AS SELECT id + 1000 AS id, body FROM docs WHERE id % 2 = 0")
                .expect("made");
            for threshold in [0.4, 0.8] {
                let call =
                    format!("near_duplicates_between('docs', 'other', {threshold}, id_column => 'id')");
                let all = oracle("jaccard(a.body, b.body)", threshold);
                let all = all.replace("docs b ON a.id < b.id", "other b ON true");
                same(seed, &call, &all);
            }
            Spi::run("DROP TABLE other").expect("dropped");
        }
    }

    #[pg_test]
    fn both_forms_and_any_number_of_threads_agree() {
        for seed in SEEDS {
            fill(seed);
            for threads in [1, 2, 5] {
                Spi::run(&format!("SET neardup.threads = {threads}")).expect("set");
                let listed = "(SELECT (p).* FROM (SELECT near_duplicates('docs', 0.5) AS p) q) l";
                same(seed, listed, &oracle("jaccard(a.body, b.body)", 0.5));
            }
        }
    }

    #[pg_test]
    fn little_memory_changes_nothing() {
        for seed in SEEDS {
            fill(seed);
            Spi::run("SET neardup.memory = '64kB'").expect("set");
            same(seed, "near_duplicates('docs', 0.5)", &oracle("jaccard(a.body, b.body)", 0.5));
        }
    }

    #[pg_test(error = "threshold must be greater than 0 and at most 1, not 80")]
    fn a_threshold_in_percent_is_refused() {
        fill(1);
        Spi::run("SELECT * FROM near_duplicates('docs', 80)").expect("an error is raised");
    }
}
