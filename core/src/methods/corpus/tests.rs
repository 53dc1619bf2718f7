use super::*;
use crate::executor::Stop;
use crate::features::units::signatures::Features;
use crate::passages::between;

#[test]
fn passages_of_a_corpus_are_those_of_its_pairs() {
    let story = "The crane moved to the north quay in March. Nobody saw it happen. It was dark.";
    let texts = [format!("One word. {story}"), format!("{story} The end."), "Some other words.".to_owned()];
    let parameters =
        Parameters { features: Features::Shingles(3), min_sentences: 2, ..Parameters::default() };
    let mut expected = between(&texts[0], &texts[1], &parameters, &Stop::default()).unwrap();
    assert_eq!(expected.len(), 1);
    // The right text alone is the right table; rows keep their numbers.
    (expected[0].left_row, expected[0].right_row) = (0, 1);
    for right_from in [None, Some(1)] {
        let found = Corpus::of_texts(&texts).split(right_from).passages(&parameters).unwrap();
        assert_eq!(found, expected, "{right_from:?}");
    }
    assert_eq!(Corpus::of_texts(&texts).split(Some(2)).passages(&parameters), Ok(vec![]));
    let none = Parameters { min_sentences: 0, ..parameters };
    assert!(Corpus::of_texts(&texts).passages(&none).is_err());
}
