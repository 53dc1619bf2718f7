//! Reads the lists of a segment.

mod plain;

use super::list_bytes::{ListSource, PartBytes};
use super::lists::{PIECE, PLAIN, bits_of_parts};
use super::segment::{COLLECTING, Segment};
use crate::pg::index::layout::format::Pieces;
use crate::pg::index::pages::buffer::Looked;
use neardup_core::error::Error;
use neardup_core::memory;
use neardup_core::set_index::rice::{Decoder, Until};
use plain::Plain;

pub(crate) use plain::PieceRows;

/// The number of rows that are decoded at a time.
const DECODED: usize = 256;

/// The head of a piece of a list.
#[derive(Clone, Copy)]
struct PieceHead {
    class: u64,
    rows: u32,
    bytes: u32,
    k: u8,
    /// The row of a piece that has no code, counted from its base.
    single: Option<u32>,
}

/// What a first look at some lists tells.
pub(crate) struct GlancedLists {
    /// The number of their rows.
    pub rows: u64,
    /// The classes of the lists and the rows, if these are few.
    pub few: Option<Vec<(u64, u32)>>,
}

/// Iterates over the pieces of a part.
pub(crate) struct PartReader<'a, S = Segment> {
    stream: PartBytes<'a, S>,
    /// The class of the last piece that was read or skipped, or at first the first class of the
    /// part. Then the end of the part's range of classes.
    class: u64,
    end: u64,
    is_first: bool,
    /// The decoder of the piece that is being read, and the base that is added to its row numbers.
    decoder: Option<Decoder>,
    base: u32,
    /// The rest of the piece that is being read, if its rows are plain.
    plain: Option<Plain>,
    /// The decoded rows, and how many of them were returned.
    waiting: Vec<u32>,
    given: usize,
    /// The last row that was read of the current piece, if there is one.
    last: Option<u32>,
    /// A head that was read but not used yet.
    held: Option<PieceHead>,
    /// The number of postings of the part that were not read yet.
    rest: u64,
}

/// Returns the number of lower bits of a class. Its upper bits are the number of the part that it
/// belongs to.
fn lower_bits(source: &impl ListSource) -> u32 {
    let (class_bits, lists) = source.shape();
    class_bits - bits_of_parts(lists, class_bits).unwrap_or(0)
}

impl<'a, S: ListSource> PartReader<'a, S> {
    /// Opens part `n`, or the list after the parts.
    pub(crate) fn open(source: &'a S, n: u32) -> Looked<Self> {
        let shift = lower_bits(source);
        let list = source.entry(n)?;
        let (class, end) = (u64::from(n) << shift, (u64::from(n) + 1) << shift);
        Ok(Self {
            stream: PartBytes::new(source, list),
            class,
            end,
            is_first: true,
            decoder: None,
            base: 0,
            plain: None,
            waiting: Vec::new(),
            given: 0,
            last: None,
            held: None,
            rest: list.rows.into(),
        })
    }

    /// Opens the part that contains a class.
    pub(crate) fn of_class(source: &'a S, class: u64) -> Looked<Self> {
        Self::open(source, (class >> lower_bits(source)) as u32)
    }

    /// Opens the part that contains a class, at the list of the class. Returns None if there is no
    /// such list.
    pub(crate) fn list_of(source: &'a S, class: u64) -> Looked<Option<Self>> {
        let mut part = Self::of_class(source, class)?;
        Ok(part.find(class)?.then_some(part))
    }

    /// Opens the list of the rows that hold a part of a split set, at its first row. Returns None
    /// if there are none.
    pub(crate) fn list_of_split(source: &'a S) -> Looked<Option<Self>> {
        let mut part = Self::of_split(source)?;
        let Some(head) = part.head()? else { return Ok(None) };
        part.begin(head)?;
        Ok(Some(part))
    }

    /// Looks at the lists of the classes from `first` to `last`, which are in one part. At most
    /// `most` rows are few.
    pub(crate) fn glance(source: &'a S, first: u64, last: u64, most: u64) -> Looked<GlancedLists> {
        let mut part = Self::of_class(source, first)?;
        part.skip_to(first)?;
        let (mut all, mut few, mut rows) = (0, Vec::new(), Vec::new());
        while let Some((class, count)) =
            part.next_of_few(most.saturating_sub(all), &mut rows)?.filter(|&(class, _)| class <= last)
        {
            all += count;
            if let Err(error) = memory::append(&mut few, rows.iter().map(|&row| (class, row)), COLLECTING) {
                source.failed(error);
            }
        }
        Ok(GlancedLists { rows: all, few: (all <= most).then_some(few) })
    }

    /// Opens the list of the rows that hold a part of a split set.
    pub(crate) fn of_split(source: &'a S) -> Looked<Self> {
        Self::open(source, source.shape().1.saturating_sub(1))
    }

    /// Returns the head of the next piece.
    fn head(&mut self) -> Looked<Option<PieceHead>> {
        if let Some(head) = self.held.take() {
            return Ok(Some(head));
        }
        if self.stream.rest() == 0 {
            if self.rest != 0 {
                self.stream.corrupted("a part has other postings than the list directory says");
            }
            return Ok(None);
        }
        let first = self.stream.long_number()?;
        let (gap, is_single) = match self.stream.source.pieces() {
            Pieces::Coded => (first, false),
            Pieces::CodedOrSingle | Pieces::Grouped => (first / 2, first % 2 == 1),
        };
        let (mut rows, mut bytes, mut k, mut single) = (1, 0, 0, None);
        if is_single {
            single = Some(self.stream.number()?);
        } else {
            (rows, bytes) = (self.stream.number()?, self.stream.number()?);
            k = self.stream.byte()?;
        }
        let class = self.class.saturating_add(gap);
        let right = class < self.end
            && (1..=PIECE as u32).contains(&rows)
            && u64::from(bytes) <= self.stream.rest()
            && u64::from(rows) <= self.rest;
        if !right {
            self.stream.corrupted("a piece of a list cannot be read");
        }
        self.rest -= u64::from(rows);
        Ok(Some(PieceHead { class, rows, bytes, k, single }))
    }

    /// Starts to read a piece.
    fn begin(&mut self, head: PieceHead) -> Looked<()> {
        let continues = head.class == self.class && !self.is_first;
        self.base = if continues { self.last.map_or(0, |last| last + 1) } else { 0 };
        (self.class, self.is_first, self.last) = (head.class, false, None);
        let limit = self.stream.source.rows().saturating_sub(self.base);
        self.waiting.clear();
        self.given = 0;
        (self.decoder, self.plain) = (None, None);
        if let Some(row) = head.single {
            if row >= limit {
                self.stream.corrupted("a list has a row that the segment has not");
            }
            self.last = Some(self.base + row);
            self.waiting.push(self.base + row);
            return Ok(());
        }
        if head.k == PLAIN && self.stream.source.pieces() == Pieces::Grouped {
            let plain = Plain::begin(&mut self.stream, head.rows, head.bytes, self.base, limit)?;
            self.waiting.push(plain.first());
            (self.last, self.plain) = (Some(plain.first()), Some(plain));
            return Ok(());
        }
        match Decoder::new(head.k, head.rows, head.bytes, limit) {
            Ok(decoder) => self.decoder = Some(decoder),
            Err(error) => self.bad(error),
        }
        Ok(())
    }

    fn bad(&self, error: Error) -> ! {
        match error {
            Error::Malformed { why, .. } => self.stream.corrupted(&format!("a list of rows: {why}")),
            error => self.stream.source.failed(error),
        }
    }

    /// Appends those of the next rows of the current piece that are below `end`. Reports whether
    /// the piece has more rows.
    fn read(&mut self, end: u32, out: &mut Vec<u32>) -> Looked<bool> {
        loop {
            let waiting = &self.waiting[self.given..];
            let before = waiting.partition_point(|&row| row < end);
            if let Err(error) = memory::extend(out, &waiting[..before], COLLECTING) {
                self.stream.source.failed(error);
            }
            self.given += before;
            if self.given < self.waiting.len() {
                return Ok(true);
            }
            if !self.decode()? {
                return Ok(false);
            }
        }
    }

    /// Decodes some rows of the current piece. Returns false if there are no more.
    fn decode(&mut self) -> Looked<bool> {
        self.waiting.clear();
        self.given = 0;
        if self.plain.is_some() {
            let mut rows = std::mem::take(&mut self.waiting);
            let read = self.each_plain(DECODED, &mut |run| {
                if let PieceRows::Plain(first, distances) = run {
                    rows.extend(distances.iter().map(|&next| first + u32::from(u16::from_le_bytes(next))));
                }
            });
            self.waiting = rows;
            return read.map(|()| true);
        }
        let Some(mut decoder) = self.decoder.take() else { return Ok(false) };
        loop {
            self.stream.fill()?;
            let mut piece = &self.stream.page[self.stream.at..];
            let until = decoder.read(&mut piece, DECODED - self.waiting.len(), &mut self.waiting);
            self.stream.at = self.stream.page.len() - piece.len();
            match until {
                Ok(Until::Bytes) if self.stream.rest() == 0 => self.stream.corrupted("a list has no end"),
                Ok(Until::Bytes) => {}
                Ok(Until::Most) => {
                    self.decoder = Some(decoder);
                    break;
                }
                Ok(Until::Done) => break,
                Err(error) => self.bad(error),
            }
        }
        self.waiting.iter_mut().for_each(|row| *row += self.base);
        self.last = self.waiting.last().copied().or(self.last);
        Ok(true)
    }

    /// Calls `each` with the next plain rows of the current piece, at most `most`.
    fn each_plain(&mut self, most: usize, each: &mut impl FnMut(PieceRows<'_>)) -> Looked<()> {
        let Some(mut plain) = self.plain.take() else { return Ok(()) };
        self.last = Some(plain.each(&mut self.stream, most, each)?);
        self.plain = (plain.rows() > 0).then_some(plain);
        Ok(())
    }

    /// Moves to the list of a class. Returns false if the part has no such list. Classes must be
    /// looked up in ascending order.
    pub(crate) fn find(&mut self, class: u64) -> Looked<bool> {
        self.skip_to(class)?;
        match self.held {
            Some(head) if head.class == class => {
                self.held = None;
                self.begin(head)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Skips the lists of the classes before `class`.
    pub(crate) fn skip_to(&mut self, class: u64) -> Looked<()> {
        while let Some(head) = self.head()? {
            if head.class >= class {
                self.held = Some(head);
                break;
            }
            (self.class, self.is_first, self.last) = (head.class, false, None);
            self.stream.skip(head.bytes);
        }
        Ok(())
    }

    /// Appends those of the next rows of the found class that are below `end`. Reports whether the
    /// class has more rows.
    pub(crate) fn rows_before(&mut self, end: u32, out: &mut Vec<u32>) -> Looked<bool> {
        loop {
            if self.read(end, out)? {
                return Ok(true);
            }
            if !self.goes_on()? {
                return Ok(false);
            }
        }
    }

    /// Begins the next piece of the class. Returns false if the class has no more rows.
    fn goes_on(&mut self) -> Looked<bool> {
        match self.head()? {
            Some(head) if head.class == self.class => self.begin(head).map(|()| true),
            other => {
                self.held = other;
                Ok(false)
            }
        }
    }

    /// Calls `each` with the next rows of the found class, at most those of a piece. Reports
    /// whether the class has more rows.
    pub(crate) fn each_run(&mut self, mut each: impl FnMut(PieceRows<'_>)) -> Looked<bool> {
        loop {
            each(PieceRows::Rows(&self.waiting[self.given..]));
            self.waiting.clear();
            self.given = 0;
            self.each_plain(PIECE, &mut each)?;
            if !self.decode()? {
                break;
            }
        }
        self.goes_on()
    }

    /// Returns the first row of the current piece, if no row of it was returned yet.
    pub(crate) fn first(&mut self) -> Looked<Option<u32>> {
        if self.given == self.waiting.len() {
            self.decode()?;
        }
        Ok(self.waiting.get(self.given).copied())
    }

    /// Returns the number of rows of the current piece that were not returned yet.
    pub(crate) fn rows_of_this(&self) -> u32 {
        let plain = self.plain.map_or(0, Plain::rows);
        self.decoder.as_ref().map_or(plain, Decoder::rows) + (self.waiting.len() - self.given) as u32
    }

    /// Replaces the contents of `rows` by the rows of the next piece, and returns its class.
    pub(crate) fn next(&mut self, rows: &mut Vec<u32>) -> Looked<Option<u64>> {
        Ok(self.next_of_few(u64::MAX, rows)?.map(|(class, _)| class))
    }

    /// Returns the class of the next piece and the number of its rows, and replaces the contents of
    /// `rows` by them if there are at most `most`. After a piece whose rows were not read, other
    /// pieces of its class cannot be read.
    pub(crate) fn next_of_few(&mut self, most: u64, rows: &mut Vec<u32>) -> Looked<Option<(u64, u64)>> {
        rows.clear();
        let Some(head) = self.head()? else { return Ok(None) };
        if u64::from(head.rows) <= most {
            self.begin(head)?;
            self.read(u32::MAX, rows)?;
        } else {
            (self.class, self.is_first) = (head.class, false);
            self.stream.skip(head.bytes);
        }
        Ok(Some((head.class, head.rows.into())))
    }
}
