//! The outlines of rows, as rows of the table of lists.

use super::stored::{BATCH, COLUMNS, read_order, unless_damaged};
use super::writer::ListWriter;
use crate::jobs::step::RowSelection;
use crate::pg::jobs::queries::Condition;
use crate::pg::jobs::statements::work::Names;
use crate::pg::procedure::table::Table;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::RowStore;
use neardup_core::error::Error;
use neardup_core::executor::{self, Executor};
use neardup_core::incremental::digest::{Digester, OUTLINE_VERSION, OutlineOrder, words};
use neardup_core::incremental::segment::ListSegment;
use neardup_core::joins::sets::bounds::Bounds;
use neardup_core::methods::Update;
use neardup_core::set_index::token_order::TokenOrder;

/// Stores the outlines of rows as rows of the table of lists, in segments numbered from `segment`,
/// by the order of tokens in the table. If this order is missing, damaged or of another version,
/// stores one row of kind `!`.
pub(in crate::pg::jobs) fn in_order(
    names: &Names,
    lists: &Table,
    segment: i64,
    rows: RowSelection,
    store: &mut RowStore,
) -> Result<()> {
    match unless_damaged(read_order(lists))?.flatten() {
        Some(order) => outlines(names, Some(rows), Some(order), segment, store),
        None => ListWriter::<COLUMNS>::new(store, segment).put(b'!', [0, 0], None, None, None),
    }
}

/// The number of the first segment.
pub(in crate::pg::jobs) const FIRST: i64 = 1;

/// Stores the outlines of some rows, or of all rows, by an order of tokens. If there is none, it is
/// made from these rows, and stored. Outlines are stored by about an eighth of the memory at a
/// time.
pub(in crate::pg::jobs) fn outlines(
    names: &Names,
    rows: Option<RowSelection>,
    mut order: Option<OutlineOrder>,
    segment: i64,
    store: &mut RowStore,
) -> Result<()> {
    let mut request = names.request()?;
    let Update::Sets(spec, predicate) = request.method.update() else {
        return Err(SqlError::parameter("this method has no lists"));
    };
    request.left = request.left.of_all_groups();
    if let Some(rows) = rows {
        request.left = Condition::new(&names.tables, rows, &request)?.only(&request.left);
    }
    let mut writer = ListWriter::<COLUMNS>::new(store, segment);
    let mut reading = request.reading();
    // Until an order is made, tokens take far more memory than outlines, and applying the order
    // takes twice the size of the tokens in addition.
    let enough = reading.memory / 4;
    let (new, bounds, executor) = (order.is_none(), Bounds::new(predicate), reading.executor);
    let mut outliners: Vec<Digester> = (0..executor.count()).map(|_| Digester::default()).collect();
    let mut write = |outliners: &mut Vec<Digester>, order: &OutlineOrder| {
        let mut parts = outliners.iter_mut().map(|outliner| std::mem::take(&mut outliner.digests));
        let mut outlines = parts.next().unwrap_or_default();
        parts.try_for_each(|part| outlines.append(&part, |row| row))?;
        if outlines.rows.is_empty() {
            return Ok(());
        }
        writer.write(ListSegment::new(&outlines, order.words, &executor)?)
    };
    let (order, _) = reading.run::<_, SqlError>(|reading| {
        if !new {
            reading.batch_bytes = BATCH;
        }
        reading.read_with::<SqlError>(|batch| {
            let known = order.as_ref();
            batch.share_out(&mut outliners, |outliner, row, document, stop| match known {
                Some(order) => outliner.add(row, document, &spec, order, &bounds, stop),
                None => outliner.keep(row, document, &spec, stop),
            })?;
            if order.is_none() && outliners.iter().map(Digester::waiting).sum::<usize>() > enough {
                order = Some(freeze(&mut outliners, &bounds, batch.executor)?);
            }
            let bytes = outliners.iter().map(|outliner| outliner.digests.bytes()).sum::<usize>();
            if let Some(order) = order.as_ref().filter(|_| bytes > enough / 2) {
                write(&mut outliners, order)?;
            }
            Ok(bytes)
        })?;
        let order = match order {
            Some(order) => order,
            None => freeze(&mut outliners, &bounds, &executor)?,
        };
        write(&mut outliners, &order)?;
        Ok(order)
    })?;
    if new {
        let count = i32::try_from(reading.left().len()).unwrap_or(i32::MAX);
        writer.put(b'o', [0, OUTLINE_VERSION.into()], Some(count), Some(&order.to_bytes()?), None)?;
    }
    writer.ids(|row| reading.left().show(row))
}

/// Makes the order, and the outlines of the documents that wait for it.
fn freeze(outliners: &mut [Digester], bounds: &Bounds, executor: &dyn Executor) -> Result<OutlineOrder> {
    let (documents, tokens) =
        outliners.iter().map(Digester::tokens).fold((0, 0), |(d, t), (e, u)| (d + e, t + u));
    let words = words(bounds, (tokens / documents.max(1)) as u32);
    let mut made = (outliners.iter_mut().map(Digester::take_counts).collect::<Vec<_>>(), None);
    executor::one(executor, &mut made, |(counts, tokens), stop| {
        let mut all = Digester::no_counts();
        counts.iter_mut().try_for_each(|counts| all.absorb(counts, stop))?;
        *tokens = Some(TokenOrder::from_counts(&mut all, stop)?);
        Ok(())
    })?;
    let order = OutlineOrder { tokens: made.1.ok_or(Error::Stopped)?, words };
    executor::each(executor, outliners, |outliner, stop| outliner.release(&order, bounds, stop))?;
    Ok(order)
}
