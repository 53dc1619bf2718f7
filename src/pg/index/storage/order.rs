//! The order of tokens of an index of sets: a chain of pages that is written once and never
//! changes.

use std::cell::RefCell;
use std::sync::Arc;

use crate::pg::index::layout::format::{CONTENTS, Meta, NONE, PageKind, Tail};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::pages::record::Logging;
use crate::pg::server::error::or_raise;
use neardup_core::memory;
use neardup_core::set_index::token_order::TokenOrder;

/// The number of orders that a backend keeps in memory: those that it loaded last.
const KEPT: usize = 4;

thread_local! {
    /// Orders by their hashes: equal hashes mean the same order, in any index.
    static ORDERS: RefCell<Vec<(u64, Arc<TokenOrder>)>> = const { RefCell::new(Vec::new()) };
}

/// The maximum size of an order in bytes.
const MOST_BYTES: usize = 6 * TokenOrder::MOST;

/// Writes an order, and returns its first block and its hash. Nothing refers to these pages yet.
pub(crate) fn write(
    index: OpenIndex,
    order: &TokenOrder,
    logging: Logging,
) -> neardup_core::error::Result<(u32, u64)> {
    let bytes = order.to_bytes()?;
    let mut next = NONE;
    let pages = bytes.len().div_ceil(CONTENTS).max(1);
    // The last page is written first, because each page names the next one.
    for n in (0..pages).rev() {
        pgrx::check_for_interrupts!();
        let contents = &bytes[n * CONTENTS..bytes.len().min((n + 1) * CONTENTS)];
        next = index.add(Tail { next, ..Tail::new(PageKind::Order, 0, n as u32) }, contents, logging);
    }
    Ok((next, TokenOrder::hash(&bytes)))
}

/// Calls `each` with every block of the order and its contents.
fn for_each_page(index: OpenIndex, meta: &Meta, mut each: impl FnMut(u32, &[u8])) {
    let (mut block, mut number) = (meta.order, 0);
    while block != NONE {
        pgrx::check_for_interrupts!();
        if block >= index.blocks_now() {
            index.corrupted(0, &format!("it refers to block {block}, behind the end"));
        }
        // Pages of an order stay in place as long as the index has its files.
        let Ok(page) = index.expect(block, PageKind::Order, 0, number) else {
            index.corrupted(block, "this page is not part of the order of tokens");
        };
        each(block, page.contents());
        number += 1;
        if number as usize > MOST_BYTES.div_ceil(CONTENTS) {
            index.corrupted(block, "the order of tokens has no end");
        }
        block = page.tail().next;
    }
}

/// Lists the blocks of the order of an index.
pub(crate) fn blocks(index: OpenIndex, meta: &Meta) -> Vec<u32> {
    let mut blocks = Vec::new();
    for_each_page(index, meta, |block, _| blocks.push(block));
    blocks
}

/// Returns the order of tokens of an index that has one, from memory if the backend keeps it there.
pub(crate) fn load(index: OpenIndex, meta: &Meta) -> Arc<TokenOrder> {
    let known = ORDERS.with_borrow(|orders| {
        orders.iter().find(|(hash, _)| *hash == meta.seed).map(|(_, order)| Arc::clone(order))
    });
    known.unwrap_or_else(|| {
        let order = Arc::new(read(index, meta));
        ORDERS.with_borrow_mut(|orders| {
            if orders.len() == KEPT {
                orders.remove(0);
            }
            orders.push((meta.seed, Arc::clone(&order)));
        });
        order
    })
}

/// Reads the order of an index from its pages.
pub(crate) fn read(index: OpenIndex, meta: &Meta) -> TokenOrder {
    let mut bytes = Vec::new();
    for_each_page(index, meta, |_, contents| {
        or_raise(memory::extend(&mut bytes, contents, "reading the order of tokens"));
    });
    match TokenOrder::from_bytes(&bytes) {
        Ok(order) if TokenOrder::hash(&bytes) == meta.seed => order,
        _ => index.corrupted(meta.order, "the order of tokens cannot be read"),
    }
}
