//! Forms of one and the same job: ids of another type, rows in another order, another algorithm,
//! tokens made before. All give the answer of the plain form, which `mod.rs` compares with all
//! pairs.

use pgrx::prelude::*;

#[pg_schema]
mod tests {
    use super::*;

    const SEEDS: [u32; 2] = [7, 4711];
    const METHODS: [&str; 5] = ["jaccard", "cosine", "dice", "overlap", "containment"];

    /// Fills `docs` with texts of a small vocabulary, many of them copies of others with a few
    /// words changed; a tenth is NULL or without words.
    fn fill(seed: u32) {
        let mut state = u64::from(seed);
        // splitmix64: the same tables on every machine.
        let mut next = |below: u64| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) % below
        };
        let word = |n: u64| {
            ["the", "Quick", "近似", "fox!", "3.14", "naïve", "a-b", "dog", "over", "lazy"][n as usize]
        };
        let mut texts: Vec<Option<String>> = Vec::new();
        for _ in 0..180 {
            let text = match next(20) {
                0 => None,
                1 => Some(" …".repeat(next(3) as usize)),
                2..=13 if !texts.is_empty() => texts[next(texts.len() as u64) as usize].clone().map(|text| {
                    let mut words: Vec<&str> = text.split(' ').collect();
                    for _ in 0..next(3) {
                        let at = next(words.len() as u64) as usize;
                        words[at] = word(next(10));
                    }
                    words.join(" ")
                }),
                _ => Some((0..1 + next(14)).map(|_| word(next(10))).collect::<Vec<_>>().join(" ")),
            };
            texts.push(text);
        }
        Spi::run("DROP TABLE IF EXISTS docs CASCADE; CREATE TABLE docs (id int PRIMARY KEY, body text)")
            .expect("made");
        let (ids, texts): (Vec<i32>, Vec<_>) = (1..).zip(texts).unzip();
        Spi::run_with_args("INSERT INTO docs SELECT * FROM unnest($1, $2)", &[ids.into(), texts.into()])
            .expect("filled");
    }

    /// How many pairs the first query gives, and whether the second one gives the same.
    fn same(seed: u32, one: &str, other: &str) -> i64 {
        let sql = format!(
            "WITH one AS ({one}), other AS ({other})
             SELECT (SELECT count(*) FROM one), (SELECT count(*) FROM (
                 (TABLE one EXCEPT ALL TABLE other) UNION ALL (TABLE other EXCEPT ALL TABLE one)) d)"
        );
        let (pairs, different) = Spi::get_two::<i64, i64>(&sql).expect("both run");
        assert_eq!(different, Some(0), "seed {seed}: {one} and {other}");
        pairs.expect("a number")
    }

    fn plain(arguments: &str) -> String {
        format!("SELECT * FROM near_duplicates('docs', {arguments})")
    }

    #[pg_test]
    fn ids_of_any_type_name_the_same_rows() {
        for seed in SEEDS {
            fill(seed);
            // The first and third sort as the numbers do, the others do not.
            Spi::run(
                "CREATE TABLE named AS SELECT lpad(id::text, 5, '0') AS t, md5(id::text)::uuid AS u, (id / 7.0)::numeric AS n,
                     ARRAY[id % 3, id] AS a, id, body FROM docs",
            )
            .expect("made");
            for (column, id_type) in [("t", "text"), ("u", "uuid"), ("n", "numeric"), ("a", "int[]")] {
                for method in METHODS {
                    let typed = format!(
                        "SELECT least(l.id, r.id)::bigint, greatest(l.id, r.id)::bigint, similarity
                         FROM near_duplicates('named', 0.4, NULL::{id_type}, id_column => '{column}', text_column => 'body',
                             method => '{method}') p
                         JOIN named l ON l.{column} = p.left_id JOIN named r ON r.{column} = p.right_id
                         WHERE p.left_id < p.right_id"
                    );
                    assert!(same(seed, &plain(&format!("0.4, method => '{method}'")), &typed) > 100);
                }
            }
            Spi::run("DROP TABLE named").expect("dropped");
        }
    }

    #[pg_test]
    fn the_order_of_rows_does_not_matter() {
        for seed in SEEDS {
            fill(seed);
            for order in
                ["hashint4(id)", "id DESC", "length(body), id", "body DESC NULLS FIRST, hashint4(id)"]
            {
                Spi::run(&format!("CREATE TABLE shuffled AS SELECT * FROM docs ORDER BY {order}"))
                    .expect("made");
                for method in METHODS {
                    let shuffled = format!(
                        "SELECT * FROM near_duplicates('shuffled', 0.5, id_column => 'id', method => '{method}')"
                    );
                    assert!(same(seed, &plain(&format!("0.5, method => '{method}'")), &shuffled) > 50);
                }
                Spi::run("DROP TABLE shuffled").expect("dropped");
            }
        }
    }

    #[pg_test]
    fn every_algorithm_gives_the_same() {
        for seed in SEEDS {
            fill(seed);
            for method in METHODS {
                for threshold in [0.3, 0.8] {
                    for algorithm in ["allpairs", "ppjoin", "ppjoin+"] {
                        let arguments = format!("{threshold}, method => '{method}'");
                        let other = format!("{arguments}, options => '{{\"algorithm\": \"{algorithm}\"}}'");
                        same(seed, &plain(&arguments), &plain(&other));
                        let call = |arguments| {
                            format!("SELECT * FROM near_duplicates_between('docs', 'docs', {arguments})")
                        };
                        same(seed, &call(&arguments), &call(&other));
                    }
                }
            }
        }
    }

    #[pg_test]
    fn two_tables_of_one_are_its_pairs_both_ways() {
        for seed in SEEDS {
            fill(seed);
            for method in ["jaccard", "cosine", "dice", "overlap"] {
                let between = format!(
                    "SELECT * FROM near_duplicates_between('docs', 'docs', 0.5, method => '{method}') WHERE left_id <> right_id"
                );
                let once = plain(&format!("0.5, method => '{method}'"));
                let both = format!("{once} UNION ALL SELECT right_id, left_id, similarity FROM ({once}) p");
                assert!(same(seed, &both, &between) > 100);
            }
            // The greater direction is what one table has.
            let greater = "SELECT least(left_id, right_id), greatest(left_id, right_id), max(similarity)
                 FROM near_duplicates_between('docs', 'docs', 0.5, method => 'containment') WHERE left_id <> right_id GROUP BY 1, 2";
            assert!(same(seed, &plain("0.5, method => 'containment'"), greater) > 100);
        }
    }

    #[pg_test]
    fn tokens_made_before_are_those_of_the_text() {
        for seed in SEEDS {
            fill(seed);
            // A text of signs is one token, and has no word.
            Spi::run("DELETE FROM docs WHERE words(body) = '{}'").expect("deleted");
            Spi::run(
                "CREATE TABLE made AS SELECT id, words(body) AS words, shingles(body, 1) AS hashes, shingles(body, 2) AS shingles,
                     to_tsvector('simple', body) AS vector FROM docs",
            )
            .expect("made");
            let made = |column, more| {
                format!(
                    "SELECT * FROM near_duplicates('made', 0.4, id_column => 'id', text_column => '{column}'{more})"
                )
            };
            assert!(same(seed, &plain("0.4"), &made("words", "")) > 100);
            assert!(same(seed, &plain("0.4"), &made("hashes", "")) > 100);
            assert!(same(seed, &plain("0.4, shingle => 2"), &made("words", ", shingle => 2")) > 100);
            assert!(same(seed, &plain("0.4, shingle => 2"), &made("shingles", ", multiset => false")) > 100);
            assert!(same(seed, &plain("0.4, tokenizer => 'tsearch:simple'"), &made("vector", "")) > 100);
            Spi::run("DROP TABLE made").expect("dropped");
        }
    }

    #[pg_test]
    fn a_lower_threshold_only_adds_pairs() {
        for seed in SEEDS {
            fill(seed);
            for method in METHODS {
                let all = format!("SELECT * FROM ({}) p", plain(&format!("1e-9, method => '{method}'")));
                for threshold in [0.2, 0.5, 2.0 / 3.0, 0.8, 1.0] {
                    let some = plain(&format!("{threshold}, method => '{method}'"));
                    same(seed, &some, &format!("{all} WHERE similarity >= {threshold}::float8"));
                }
            }
        }
    }

    #[pg_test]
    fn words_survive_the_way_to_the_server_and_back() {
        for seed in SEEDS {
            fill(seed);
            let wrong = Spi::get_one::<i64>(
                "SELECT count(*) FROM docs WHERE words(body) <> '{}' AND (words(body) <> words(array_to_string(words(body), ' '))
                     OR cardinality(words(body)) <> cardinality(shingles(body, 1))
                     OR jaccard(body, array_to_string(words(body), ' ')) <> 1)",
            );
            assert_eq!(wrong, Ok(Some(0)), "seed {seed}");
        }
    }
}
