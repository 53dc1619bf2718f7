//! The methods `minhash` and `simhash` on columns of stored sketches.

use super::sets::DEFAULT_THRESHOLD;
use super::techniques::{TechniqueOptions, distance_of};
use crate::pg::query::column::UserColumn;
use crate::pg::query::decode::ColumnContent;
use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::such_as;
use crate::pg::request::options;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::methods::Method;
use neardup_core::methods::stored::{NearBits, StoredMinhash, StoredSimhash};
use neardup_core::sketches::simhash::MOST_BITS;
use neardup_core::sketches::stored::SketchKind;

/// Returns the kind of the sketches in the document columns of a call, and one of these columns, or
/// `None` if the columns hold no sketches.
pub(crate) fn kind_of<'a>(
    columns: &[(&'a UserColumn, &'a UserColumn)],
) -> Result<Option<(SketchKind, &'a UserColumn)>> {
    let kind = |column: &UserColumn| ColumnContent::for_type(column.base_type).sketches();
    let Some(&(_, first)) = columns.first() else { return Ok(None) };
    if let Some((_, other)) = columns.iter().find(|(_, column)| kind(column) != kind(first)) {
        let [a, b] =
            [first, other].map(|column| format!("\"{}\" is of type {}", column.name, column.type_name()));
        return Err(SqlError::parameter(format!(
            "sketches compare with sketches of their type: column {a}, and {b}"
        ))
        .hint("Name columns of one type with text_column and right_text_column."));
    }
    Ok(kind(first).map(|kind| (kind, first)))
}

fn refused(arguments: &Arguments<'_>, kind: SketchKind, column: &str, what: &str) -> SqlError {
    let message = format!("column \"{column}\" is of type {}: {what}", kind.type_name());
    SqlError::parameter(message).hint(such_as(&arguments.example))
}

/// Refuses arguments that say how texts are cut, for a column of sketches.
pub(super) fn refuse_cutting(arguments: &Arguments<'_>, kind: SketchKind, column: &str) -> Result<()> {
    let Some(name) = arguments.cutting() else { return Ok(()) };
    Err(refused(arguments, kind, column, &format!("{name} is for cutting texts")))
}

/// Reads the parameters. `column` is the name of a column that holds sketches of this kind, and the
/// example in `arguments` is already a call on this column.
pub(crate) fn parse(
    arguments: &mut Arguments<'_>,
    kind: SketchKind,
    column: &str,
) -> Result<Box<dyn Method>> {
    let refuse = |arguments: &Arguments<'_>, what: String| Err(refused(arguments, kind, column, &what));
    if arguments.method != kind.method() {
        let what = format!("method \"{}\" does not compare such sketches", arguments.method);
        return refuse(arguments, what);
    }
    let threshold = match kind {
        SketchKind::Minhash => Some(arguments.threshold(DEFAULT_THRESHOLD)?),
        SketchKind::Simhash => {
            let given = arguments.threshold;
            arguments.threshold(DEFAULT_THRESHOLD)?;
            arguments.example.threshold = given;
            given
        }
    };
    let known: &[&str] = match kind {
        SketchKind::Minhash => &[],
        SketchKind::Simhash => &["distance"],
    };
    if let Some(option) = arguments
        .given_option(|name| options::names::<TechniqueOptions>().contains(&name) && !known.contains(&name))
    {
        return refuse(
            arguments,
            format!("option \"{option}\" is for making sketches, which are made already"),
        );
    }
    let options: TechniqueOptions = arguments.options_of(known)?;
    let near = match distance_of(&options, MOST_BITS, threshold, &arguments.example)? {
        Some(distance) => NearBits::Distance(distance),
        None => threshold.map_or(NearBits::Usual, NearBits::Share),
    };
    arguments.accept();
    refuse_cutting(arguments, kind, column)?;
    Ok(match (kind, threshold) {
        (SketchKind::Minhash, threshold) => {
            Box::new(StoredMinhash { threshold: threshold.unwrap_or(DEFAULT_THRESHOLD) })
        }
        (SketchKind::Simhash, _) => Box::new(StoredSimhash { near }),
    })
}
