//! Tests of balls as bytes and as text, with arbitrary documents and arbitrary bytes.

use super::*;
use crate::search::json::{SHOWN, WHOLE};
use proptest::prelude::*;

const WORDS: SetParameters = SetParameters {
    measure: Measure::Jaccard,
    origin: Origin::Words,
    features: FeatureSpec::WORDS,
    normalization: None,
    weights: None,
};

fn weighed() -> SetParameters {
    let list = [&[0, 8, 1, 0, 0, 0][..], b"a", &[154, 1, 1, 0, 0, 0], b"b"].concat();
    WORDS.weighed(&list).unwrap()
}

fn ball() -> impl Strategy<Value = (SetParameters, f64, Document)> {
    let string = ".{0,30}|[\\x00-\\x40\\\\\"]{0,12}";
    let documents = prop_oneof![
        string.prop_map(Document::Text),
        proptest::collection::vec(string, 0..5).prop_map(Document::Tokens),
        proptest::collection::vec(any::<i64>(), 0..9).prop_map(Document::Numbers),
    ];
    let similarity = prop_oneof![0.001..=1.0f64, Just(0.8), Just(f64::MIN_POSITIVE)];
    let parts = (documents, similarity, 1..=5u8, any::<bool>(), 1..=1000u16, 0..4usize, 0..3u8);
    parts.prop_map(|(document, similarity, measure, multiset, shingle, which, form)| {
        let origin = match document {
            Document::Tokens(_) => [Origin::Tokens, Origin::Lexemes][which % 2],
            Document::Numbers(_) => Origin::Numbers,
            _ => [Origin::Words, Origin::Chars, Origin::Whitespace, Origin::Html][which],
        };
        let measure = measure_of_number(measure).unwrap();
        let form = Normalization::from_number(form).unwrap();
        let form = form.filter(|_| Normalization::fits(form, origin));
        let parameters = parameters(measure, origin, shingle, multiset, form).unwrap();
        let weights = weighed().weights.filter(|_| parameters.can_weigh());
        (SetParameters { weights, ..parameters }, similarity, document)
    })
}

fn text_of(ball: &SetBall<'_>) -> String {
    ball.to_text(WHOLE, &Stop::default()).unwrap()
}

fn read(text: &str) -> Result<Vec<u8>> {
    SetBall::from_text(text, &Stop::default())
}

proptest! {
    #[test]
    fn balls_are_read_as_they_were_made((parameters, similarity, document) in ball()) {
        let bytes = SetBall::build(&parameters, similarity, &document).unwrap();
        let ball = SetBall::parse(&bytes).unwrap();
        prop_assert_eq!((&ball.parameters, ball.similarity), (&parameters, similarity));
        prop_assert_eq!(ball.document().unwrap(), document);
        let text = text_of(&ball);
        prop_assert_eq!(&read(&text).unwrap(), &bytes);
        let short = ball.to_text(SHOWN, &Stop::default()).unwrap();
        if text.chars().count() <= SHOWN {
            prop_assert_eq!(&short, &text);
        }
        prop_assert!(short.chars().count() < 400 + SHOWN, "a double has 340 digits at most");
    }

    #[test]
    fn any_bytes(
        (parameters, similarity, document) in ball(),
        random in prop::option::of(prop::collection::vec(any::<u8>(), 0..60)),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        more in prop::option::of(0..50usize),
    ) {
        let mut bytes = random.unwrap_or(SetBall::build(&parameters, similarity, &document).unwrap());
        for (at, with) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = with;
            }
        }
        bytes.resize(more.unwrap_or(bytes.len()), 0);
        if let Ok(ball) = SetBall::parse(&bytes) {
            prop_assert_eq!(read(&text_of(&ball)).unwrap(), bytes.clone());
            let document = ball.document().unwrap();
            prop_assert_eq!(SetBall::build(&ball.parameters, ball.similarity, &document).unwrap(), bytes);
        }
    }

    #[test]
    fn any_text(
        text in ".{0,40}",
        head in "(jaccard|dice|some):(words|tokens|numbers|html):k[0-9]{0,5}:(set|multiset):[0-9.e-]{0,4}",
        document in "(nfk?c:|weight\\[\"a\",[0-9]{1,4}\\]:)?[\\[\\]\",:0-9a-z\\\\ -]{0,20}",
    ) {
        for text in [text, format!("<{head}:{document}>")] {
            if let Ok(bytes) = read(&text) {
                let again = text_of(&SetBall::parse(&bytes).unwrap());
                prop_assert_eq!(read(&again).unwrap(), bytes);
            }
        }
    }
}

#[test]
fn balls_stay_as_they_are() {
    let bytes = SetBall::build(&WORDS, 0.8, &Document::Text("a \"b\"\n".to_owned())).unwrap();
    assert_eq!(bytes[..8], [2, 1, 1, 1, 1, 0, 0, 0]);
    assert_eq!(bytes[8..], [&0.8f64.to_le_bytes()[..], b"a \"b\"\n"].concat());
    let ball = SetBall::parse(&bytes).unwrap();
    assert_eq!(text_of(&ball), "<jaccard:words:k1:multiset:0.8:\"a \\\"b\\\"\\n\">");
    assert_eq!(ball.parameters.describe(), "jaccard, words, shingle 1, multiset");
    let weighed = SetBall::build(&weighed(), 0.8, &Document::Text("a".to_owned())).unwrap();
    let list = b"\x0e\0\0\0\0\x08\x01\0\0\0a\x9a\x01\x01\0\0\0b";
    assert_eq!(weighed[..8], [2, 1, 1, 1, 1, 0, 0, 1]);
    assert_eq!(weighed[16..], [&list[..], b"a"].concat());
    let ball = SetBall::parse(&weighed).unwrap();
    assert_eq!(text_of(&ball), "<jaccard:words:k1:multiset:0.8:weight[\"a\",2048,\"b\",410]:\"a\">");
    assert_eq!(
        ball.to_text(SHOWN, &Stop::default()).unwrap(),
        "<jaccard:words:k1:multiset:0.8:weight:\"a\">"
    );
    let nfkc = SetParameters { normalization: Some(Normalization::Nfkc), ..WORDS };
    let bytes = SetBall::build(&nfkc, 0.8, &Document::Text("fi".to_owned())).unwrap();
    assert_eq!(bytes[..8], [2, 1, 1, 1, 1, 0, 2, 0]);
    let ball = SetBall::parse(&bytes).unwrap();
    assert_eq!(text_of(&ball), "<jaccard:words:k1:multiset:0.8:nfkc:\"fi\">");
    assert_eq!(ball.parameters.describe(), "jaccard, words, shingle 1, multiset, nfkc");
    let long = Document::Text("é".repeat(100));
    let bytes = SetBall::build(&WORDS, 1.0, &long).unwrap();
    let shown = format!("<jaccard:words:k1:multiset:1:\"{}...>", "é".repeat(SHOWN - 1));
    assert_eq!(SetBall::parse(&bytes).unwrap().to_text(SHOWN, &Stop::default()).unwrap(), shown);
}

#[test]
fn what_is_none_is_refused() {
    let text = Document::Text("a".to_owned());
    for similarity in [0.0, -0.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
        assert!(SetBall::build(&WORDS, similarity, &text).is_err());
    }
    assert!(SetBall::build(&WORDS, 0.8, &Document::Numbers(vec![1])).is_err());
    assert!(!SetParameters { origin: Origin::Tokens, ..WORDS }.take(&text) && WORDS.take(&text));
    let nfc = SetParameters { normalization: Some(Normalization::Nfc), ..WORDS };
    assert!(SetBall::build(&SetParameters { origin: Origin::Html, ..nfc.clone() }, 0.8, &text).is_err());
    let bytes = SetBall::build(&nfc, 0.8, &text).unwrap();
    for (at, with) in [(2, Origin::Html as u8), (2, Origin::Lexemes as u8), (6, 3), (7, 1), (7, 2)] {
        let mut bytes = bytes.clone();
        bytes[at] = with;
        assert!(SetBall::parse(&bytes).is_err(), "{at}");
    }
    assert!(SetBall::parse(&[1; 40]).unwrap_err().to_string().contains("version 1"));
}
