//! Finds moved passages: further regions in the characters that earlier regions leave of two texts.

use super::found::{Found, SharedPart};
use super::parameters::Parameters;
use super::work::Workspace;
use crate::error::Result;
use crate::executor::Stop;
use crate::verify::windows::WindowedText;

/// Takes a part, removes it from both texts and searches the rest, as long as parts are long
/// enough.
pub(super) fn search_again(
    work: &mut Workspace,
    parameters: &Parameters,
    texts: [&WindowedText; 2],
    mut part: SharedPart,
    found: &mut Found,
    stop: &Stop,
) -> Result<()> {
    let width = parameters.window.max(1);
    let mut rest = [WindowedText::default(), WindowedText::default()];
    for (rest, text) in rest.iter_mut().zip(texts) {
        rest.take(text, width, |_| true)?;
    }
    while part.length >= parameters.least_part as usize {
        let [left, right] = &rest;
        found.take(part.length, left.span(part.left.clone()), right.span(part.right.clone()));
        let mut next = [WindowedText::default(), WindowedText::default()];
        let removed = work.removed(&part, work.swaps(left, right));
        for ((next, rest), removed) in next.iter_mut().zip(&rest).zip(&removed) {
            next.take(rest, width, |n| removed.binary_search(&(n as u32)).is_err())?;
        }
        rest = next;
        let [left, right] = &rest;
        if parameters.window > 0 && !left.is_empty() && !right.is_empty() {
            work.filter.set(left, stop)?;
        }
        match work.part(parameters, left, right, parameters.least_part as usize, stop)? {
            Some(next) => part = next,
            None => break,
        }
    }
    Ok(())
}
