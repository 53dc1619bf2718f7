//! The options of the operator classes.

use std::ffi::{CStr, c_char};
use std::mem::offset_of;

use pgrx::{PgSqlErrorCode, pg_sys};

use super::class::OperatorClass;
use super::options::{IndexOption, NamedValues, Values};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::guard::guard;
use neardup_core::features::FeatureSpec;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::search::ball::measure_name;
use neardup_core::sketches::minhash::MOST_PERMUTATIONS;
use neardup_core::verify::measure::Measure;

/// The default of the least similarity that an index of sets serves.
pub(super) const LEAST: f64 = 0.7;
/// The greatest least run, in tokens, that an index of runs finds.
pub(super) const GREATEST_RUN: u32 = 1000;

/// The options of an index as the server keeps them. Each class has some of them; the others are 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassOptions {
    vl_len_: i32,
    /// The number of words of a shingle.
    pub k: i32,
    /// The number of values of a minhash sketch.
    pub permutations: i32,
    /// The seed of a minhash sketch.
    pub seed: i32,
    /// The number of bits of a simhash sketch.
    pub bits: i32,
    source: i32,
    measure: i32,
    shingle: i32,
    multiset: i32,
    tokenizer: i32,
    direction: i32,
    normalize: i32,
    min_run: i32,
    /// Where the list of weights begins behind the options, or 0.
    weight: i32,
    /// The least similarity that an index of sets serves.
    pub threshold: f64,
}

impl ClassOptions {
    /// Returns the options of an index.
    pub(super) fn read(index: OpenIndex) -> Self {
        // SAFETY: there is always a struct of options.
        unsafe { Self::stored(index).read() }
    }

    fn stored(index: OpenIndex) -> *const Self {
        // SAFETY: an open index, whose last column is of a class with the options that `declare`
        // declares.
        unsafe {
            let all = pg_sys::RelationGetIndexAttOptions(index.relation(), false);
            (*all.add(index.group_columns())).cast::<Self>()
        }
    }

    /// Returns the list of weights of an index whose class has this option, if it was given.
    pub(super) fn weight(index: OpenIndex) -> Result<Option<String>> {
        let options = Self::stored(index);
        // SAFETY: the server puts the strings of options behind them, in the memory of the index.
        unsafe {
            let at = (*options).weight;
            if at == 0 {
                return Ok(None);
            }
            let given = CStr::from_ptr(options.byte_add(at.unsigned_abs() as usize).cast());
            let text = encoding::to_utf8(given.to_bytes())?.ok_or_else(|| SqlError::not_utf8("weight"))?;
            Ok(Some(text.into_owned()))
        }
    }

    /// Returns the number of the source of sketches.
    pub(super) fn source(&self) -> u8 {
        self.source as u8
    }

    /// Returns the number of the measure, or `None` if it has no such direction.
    pub(super) fn measure(&self) -> Option<u8> {
        let containment = Measure::Containment as u8;
        match (self.measure as u8, self.direction) {
            (measure, 0) => Some(measure),
            (measure, _) => (measure == containment).then_some(Measure::Coverage as u8),
        }
    }

    /// Returns the number of tokens of a shingle, if this option was given or has a default.
    pub(super) fn shingle(&self) -> Option<i32> {
        (self.shingle > 0).then_some(self.shingle)
    }

    /// Returns the option that says whether repeats count, if it was given.
    pub(super) fn multiset(&self) -> Option<bool> {
        (self.multiset >= 0).then_some(self.multiset > 0)
    }

    /// Returns the origin of the tokens of texts.
    pub(super) fn origin(&self) -> Origin {
        Origin::from_byte(self.tokenizer as u8).unwrap_or(Origin::Words)
    }

    /// Returns the form in which texts are compared.
    pub(super) fn normalization(&self) -> Option<Normalization> {
        Normalization::from_number(self.normalize as u8).flatten()
    }

    /// Returns the least number of tokens of a run that an index finds.
    pub(super) fn min_run(&self) -> u32 {
        self.min_run.unsigned_abs()
    }
}

/// The tokenizers of texts, and after them those of documents that are given as tokens.
const TOKENIZERS: [Origin; 7] = [
    Origin::Words,
    Origin::Chars,
    Origin::Whitespace,
    Origin::Html,
    Origin::Tokens,
    Origin::Numbers,
    Origin::Lexemes,
];
const TEXTS: usize = 4;

/// Makes the description of an option from its field, its name, what it is, and its values.
macro_rules! option {
    ($field:ident, $name:literal, $what:literal, $values:expr) => {
        IndexOption { name: $name, what: $what, values: $values, offset: offset_of!(ClassOptions, $field) }
    };
}

fn source() -> IndexOption {
    use Origin::{Bits, Chars, Lexemes, Numbers, Tokens, Whitespace, Words};
    let sources = [Bits, Words, Chars, Whitespace, Tokens, Numbers, Lexemes];
    let names = sources.map(|source| (source.name(), source as i32)).to_vec();
    let values = NamedValues { shown: names.len(), names, usual: Words as i32 };
    option!(source, c"source", c"Of what the sketches are made.", Values::Named(values))
}

fn tokenizer(count: usize) -> IndexOption {
    let names = TOKENIZERS[..count].iter().map(|&origin| (origin.name(), origin as i32)).collect();
    let values = NamedValues { names, shown: count, usual: Origin::Words as i32 };
    option!(tokenizer, c"tokenizer", c"How texts are cut.", Values::Named(values))
}

fn normalize() -> IndexOption {
    let number = |form| i32::from(Normalization::number(form));
    let forms = [Normalization::Nfc, Normalization::Nfkc].map(|form| (form.name(), number(Some(form))));
    let names = [("none", number(None))].into_iter().chain(forms).collect();
    let what = c"The normalization form of Unicode in which texts are compared: the normalization of near().";
    let values = Values::Named(NamedValues { names, shown: 3, usual: number(None) });
    IndexOption { name: c"normalize", what, values, offset: offset_of!(ClassOptions, normalize) }
}

/// Returns the options that all classes of sets have.
fn of_sets() -> [IndexOption; 5] {
    use Measure::{Containment, Cosine, Dice, Jaccard, Overlap};
    use Values::{Int, Named, Real};
    let measures = [Jaccard, Cosine, Dice, Containment, Overlap];
    let measures = measures.map(|measure| (measure_name(measure), measure as i32)).to_vec();
    // Overlap is refused with a hint.
    let measures = NamedValues { names: measures, shown: 4, usual: Jaccard as i32 };
    let repeats = vec![("auto", -1), ("true", 1), ("false", 0), ("on", 1), ("off", 0)];
    let repeats = NamedValues { names: repeats, shown: 3, usual: -1 };
    let directions = NamedValues { names: vec![("row", 0), ("query", 1)], shown: 2, usual: 0 };
    let shingles = Int([0, 0, FeatureSpec::LONGEST_SHINGLE as i32]);
    [
        option!(measure, c"measure", c"How similarity is measured.", Named(measures)),
        option!(shingle, c"shingle", c"Tokens to a shingle; 0 is the default of near().", shingles),
        option!(
            multiset,
            c"multiset",
            c"Whether the k-th occurrence of a token is a token of its own; auto is the default of near().",
            Named(repeats)
        ),
        option!(
            direction,
            c"direction",
            c"Of which text containment is the share: of a row, or of the query.",
            Named(directions)
        ),
        option!(
            threshold,
            c"threshold",
            c"Least similarity that the index serves.",
            Real([LEAST, 0.01, 1.0])
        ),
    ]
}

fn weight() -> IndexOption {
    let what = c"What words weigh, as an object; those that it lacks weigh as much as the heaviest.";
    IndexOption {
        name: c"weight",
        what,
        values: Values::Text(check_length),
        offset: offset_of!(ClassOptions, weight),
    }
}

/// The most bytes of a list of weights: the server keeps it in a row of its catalogue, on one page.
const LONGEST_LIST: usize = 7500;

/// Refuses a list of weights that is too long, before the server would.
unsafe extern "C-unwind" fn check_length(value: *const c_char) {
    // SAFETY: a string of the server, or null; this is the outermost frame.
    unsafe {
        guard(|| {
            let length = if value.is_null() { 0 } else { CStr::from_ptr(value).count_bytes() };
            if length <= LONGEST_LIST {
                return Ok(());
            }
            let message =
                format!("the option weight has {length} bytes, and an index keeps at most {LONGEST_LIST}");
            Err(SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message).hint(
                "List only words that are lighter than others: USING signature (body text_set_ops (weight = '{\"limited\": 0.1}'))",
            ))
        });
    }
}

/// Returns the options of a class.
fn options_of(class: OperatorClass) -> Vec<IndexOption> {
    use Values::Int;
    let k = |usual| option!(k, c"k", c"Words of a shingle.", Int([usual, 1, u16::MAX.into()]));
    match class {
        OperatorClass::Bigint | OperatorClass::Uuid => Vec::new(),
        OperatorClass::Minhash => {
            let most = MOST_PERMUTATIONS as i32;
            let seeds = Int([1, i32::MIN, i32::MAX]);
            let permutations =
                option!(permutations, c"permutations", c"Values of a sketch.", Int([128, 1, most]));
            vec![k(5), permutations, option!(seed, c"seed", c"Seed of the sketches.", seeds), source()]
        }
        OperatorClass::Simhash => {
            vec![k(1), option!(bits, c"bits", c"Bits of a sketch.", Int([64, 8, 1024])), source()]
        }
        OperatorClass::TextRuns => {
            let runs = Int([12, 1, GREATEST_RUN as i32]);
            let min_run =
                option!(min_run, c"min_run", c"Least number of tokens of a run that the index finds.", runs);
            vec![min_run, tokenizer(TEXTS), normalize()]
        }
        OperatorClass::TextGrams | OperatorClass::BallGrams => {
            // As near(…, tokenizer => 'chars').
            let grams = Int([3, 1, FeatureSpec::LONGEST_SHINGLE as i32]);
            vec![option!(shingle, c"shingle", c"Characters of a gram.", grams), normalize()]
        }
        OperatorClass::ArraySet | OperatorClass::VectorSet => of_sets().into(),
        OperatorClass::TextSet | OperatorClass::BallSet => {
            let count = if class == OperatorClass::TextSet { TEXTS } else { TOKENIZERS.len() };
            of_sets().into_iter().chain([tokenizer(count), normalize(), weight()]).collect()
        }
    }
}

/// Copies a text into the current memory context of the server.
fn copied(text: &str) -> *const c_char {
    // SAFETY: copies so many bytes, and adds a zero.
    unsafe { pg_sys::pnstrdup(text.as_ptr().cast(), text.len()) }
}

/// Declares the options of a class to the server. The server calls this for an index of the class.
pub(super) fn declare(call: FunctionCall, class: OperatorClass) -> pg_sys::Datum {
    // SAFETY: argument 0 is the server's list of options. The server keeps references to the values
    // of an option, which must end with an empty element, and to what it says of other values, so
    // both are in memory that outlives this call.
    unsafe {
        let list: *mut pg_sys::local_relopts = pgrx::fcinfo::pg_getarg_datum(call.info, 0)
            .map_or(std::ptr::null_mut(), |datum| datum.cast_mut_ptr());
        if list.is_null() {
            return pg_sys::Datum::from(0);
        }
        pg_sys::init_local_reloptions(list, size_of::<ClassOptions>());
        for IndexOption { name, what, values, offset } in options_of(class) {
            let (name, what, offset) = (name.as_ptr(), what.as_ptr(), offset as i32);
            match values {
                Values::Int([usual, least, most]) => {
                    pg_sys::add_local_int_reloption(list, name, what, usual, least, most, offset);
                }
                Values::Real([usual, least, most]) => {
                    pg_sys::add_local_real_reloption(list, name, what, usual, least, most, offset);
                }
                Values::Named(values) => {
                    let bytes = size_of::<pg_sys::relopt_enum_elt_def>() * (values.names.len() + 1);
                    let members: *mut pg_sys::relopt_enum_elt_def = pg_sys::palloc0(bytes).cast();
                    for (n, &(name, symbol_val)) in values.names.iter().enumerate() {
                        let string_val = copied(name);
                        members.add(n).write(pg_sys::relopt_enum_elt_def { string_val, symbol_val });
                    }
                    let (usual, valid) = (values.usual, copied(&values.describe()));
                    pg_sys::add_local_enum_reloption(list, name, what, members, usual, valid, offset);
                }
                Values::Text(check) => {
                    let none = std::ptr::null();
                    pg_sys::add_local_string_reloption(list, name, what, none, Some(check), None, offset);
                }
            }
        }
    }
    pg_sys::Datum::from(0)
}
