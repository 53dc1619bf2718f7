//! What words weigh in an index of sets, by an option of its class.

use std::cell::RefCell;

use crate::pg::index::families::class_options::ClassOptions;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::request::weights;
use crate::pg::server::error::Result;
use neardup_core::search::ball::SetParameters;

/// The number of lists that a backend keeps in memory: those that it read last.
const KEPT: usize = 4;

/// A list, the parameters without its weights, and with them.
type KnownList = (String, [SetParameters; 2]);

thread_local! {
    static LISTS: RefCell<Vec<KnownList>> = const { RefCell::new(Vec::new()) };
}

/// Returns the parameters of an index with the weights of its option, if it has one.
pub(super) fn weighed(index: OpenIndex, parameters: SetParameters) -> Result<SetParameters> {
    const HINT: &str =
        "For example: USING signature (body text_set_ops (weight = '{\"limited\": 0.1, \"gmbh\": 0.1}'))";
    let Some(list) = ClassOptions::weight(index)? else { return Ok(parameters) };
    let known = LISTS.with_borrow(|lists| {
        let mut known = lists.iter().filter(|(known, [plain, _])| *known == list && *plain == parameters);
        known.next().map(|(_, [_, weighed])| weighed.clone())
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let weighed = weights::of_list(&list, parameters.clone()).map_err(|error| error.hint(HINT))?;
    LISTS.with_borrow_mut(|lists| {
        if lists.len() == KEPT {
            lists.remove(0);
        }
        lists.push((list, [parameters, weighed.clone()]));
    });
    Ok(weighed)
}
