//! Passages in a server: a table's are those that the core finds in each two texts of it.

use pgrx::prelude::*;

#[pg_schema]
mod tests {
    use super::*;
    use neardup_core::executor::Stop;
    use neardup_core::features::spotsigs::SpotSpec;
    use neardup_core::features::units::signatures::Features;
    use neardup_core::passages::{Parameters, between};

    const SENTENCES: [&str; 9] = [
        "The crane moved to the quay.",
        "The CRANE\nmoved to the quay!",
        "The crane moved back to the quay.",
        "Nobody saw it, they said.",
        "It was 3.5 m high.",
        "码头上有雨。",
        "“码头上有雨？”",
        "So.",
        "…",
    ];

    #[pg_test]
    fn a_table_has_the_passages_of_its_texts() {
        let texts: Vec<String> = (0..40u64)
            .map(|row| {
                let sentence = |n| SENTENCES[(neardup_core::hash::mix(row * 31 + n) % 9) as usize];
                (0..neardup_core::hash::mix(row) % 8).map(sentence).collect::<Vec<_>>().join(" ")
            })
            .collect();
        Spi::run("CREATE TABLE texts (id int PRIMARY KEY, body text)").expect("made");
        let ids: Vec<i32> = (0..40).collect();
        Spi::run_with_args(
            "INSERT INTO texts SELECT * FROM unnest($1, $2)",
            &[ids.into(), texts.clone().into()],
        )
        .expect("filled");
        for (name, features) in [
            ("shingles', shingle => '2", Features::Shingles(2)),
            ("spotsigs", Features::Spotsigs(SpotSpec::default())),
        ] {
            for (min_sentences, extend) in [(1, None), (2, Some(Parameters::GAP))] {
                let parameters = Parameters {
                    features: features.clone(),
                    threshold: 0.5,
                    min_sentences,
                    extend,
                    ..Parameters::default()
                };
                let mut expected = Vec::new();
                for (left, a) in texts.iter().enumerate() {
                    for (right, b) in texts.iter().enumerate().skip(left + 1) {
                        for found in between(a, b, &parameters, &Stop::default()).expect("no stop") {
                            let [l, r] = [found.left_span, found.right_span]
                                .map(|span| format!("[{},{})", span.start + 1, span.end + 1));
                            expected.push(format!(
                                "{left} {right} {} {} {} {l} {r} {}",
                                found.left_sentence + 1,
                                found.right_sentence + 1,
                                found.sentences,
                                found.similarity
                            ));
                        }
                    }
                }
                let call = format!(
                    "SELECT array_agg(concat_ws(' ', left_id, right_id, left_sentence, right_sentence, sentences, left_span,
                         right_span, similarity))
                     FROM partial_duplicates('texts', 0.5, features => '{name}', min_sentences => {min_sentences},
                         extend => {})",
                    extend.is_some()
                );
                let found: Vec<String> = Spi::get_one(&call).expect("runs").expect("passages");
                assert_eq!(found, expected, "{call}");
            }
        }
    }
}
