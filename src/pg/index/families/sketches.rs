//! Indexes of minhash and simhash sketches, by the signatures of their bands, or of the single
//! values of minhash sketches ([`value_lists`]).

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Datum;

use super::class::OperatorClass;
use super::class_options::ClassOptions;
use super::family::Family;
use super::hints;
use super::options::StorageOptions;
use super::probe::{Probe, Target};
use super::value_lists;
use super::values::{ColumnValue, Posted, StoredValue};
use crate::pg::index::layout::format::{Meta, StoredFamily};
use crate::pg::index::layout::items::{HeapRow, Item, LARGEST_PAYLOAD};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::checks;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::error;
use neardup_core::features::FeatureSpec;
use neardup_core::features::origin::Origin;
use neardup_core::sketches::balls::{MinhashBall, SimhashBall};
use neardup_core::sketches::minhash::{self, check_permutations, least_agreeing};
use neardup_core::sketches::pigeonhole::Bands;
use neardup_core::sketches::simhash::{self, check_bits};
use neardup_core::sketches::wire::{Minhash, MinhashHeader, Simhash, SimhashHeader};
use neardup_core::text;

/// An index of sketches.
#[derive(Debug)]
pub(super) struct SketchKeys {
    class: OperatorClass,
    bands: Bands,
    meta: Meta,
    /// The header of every sketch. Only raw bits, which were made elsewhere, may have another one.
    header: ClassHeader,
}

/// The header of the sketches of a class.
#[derive(Debug)]
enum ClassHeader {
    Minhash(MinhashHeader),
    Simhash(SimhashHeader),
}

impl ClassHeader {
    /// Reads a sketch of the same class: its header, and its values or bits.
    fn parse<'a>(&self, bytes: &'a [u8]) -> error::Result<(Self, &'a [u8])> {
        Ok(match self {
            Self::Minhash(_) => Minhash::parse(bytes).map(|it| (Self::Minhash(it.header), it.values))?,
            Self::Simhash(_) => Simhash::parse(bytes).map(|it| (Self::Simhash(it.header), it.bits))?,
        })
    }

    /// Reports whether sketches with these headers can be compared.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Minhash(one), Self::Minhash(other)) => one.check_like(other).is_ok(),
            (Self::Simhash(one), Self::Simhash(other)) => one.check_like(other).is_ok(),
            _ => false,
        }
    }

    /// Reports whether an index of sketches with this header takes others. Raw bits can be compared
    /// with any sketch of a text, but two sketches of texts cannot always be compared with each
    /// other. So an index of raw bits takes only raw bits.
    fn takes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Simhash(one), Self::Simhash(other)) if one.source == Origin::Bits => {
                one.bits == other.bits && other.source == Origin::Bits
            }
            _ => self.is_like(other),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Minhash(header) => header.empty,
            Self::Simhash(header) => header.empty,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Minhash(header) => header.describe(),
            Self::Simhash(header) => header.describe(),
        }
    }

    /// Returns the options of an index for such sketches.
    fn options(&self) -> String {
        match self {
            Self::Minhash(MinhashHeader { source, k, permutations, seed, .. }) => {
                let source = source.name();
                format!("k = {k}, permutations = {permutations}, seed = {seed}, source = '{source}'")
            }
            Self::Simhash(SimhashHeader { source, k, bits, .. }) => {
                format!("k = {k}, bits = {bits}, source = '{}'", source.name())
            }
        }
    }
}

/// Returns the settings of a new index, for its metapage.
pub(super) fn choose(index: OpenIndex, class: OperatorClass) -> Result<Meta> {
    let (options, storage) = (ClassOptions::read(index), StorageOptions::read(index));
    let k = checks::k(options.k.into())?.into();
    let (tokenizer, seed) = (options.source(), i64::from(options.seed).cast_unsigned());
    let meta =
        Meta { class: class as u8, k, tokenizer, text_version: text::VERSION, seed, ..Meta::default() };
    if class == OperatorClass::Simhash {
        let bits = checks::bits(options.bits.into())?;
        let distance = storage.distance().min(u32::from(bits) - 1);
        let bands = Bands::simhash(bits, distance as u16).count() as u32;
        let payload = u32::from(bits).div_ceil(8);
        return Ok(Meta { width: bits.into(), bands, distance, payload, ..meta });
    }
    let permutations = checks::permutations(options.permutations.into())?;
    if usize::from(permutations) * 4 > LARGEST_PAYLOAD {
        let most = LARGEST_PAYLOAD / 4;
        return Err(SqlError::new(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            format!("an index can keep sketches of at most {most} permutations, not {permutations}"),
        )
        .hint("128 are enough for most purposes: permutations => 128"));
    }
    let width = u32::from(permutations);
    let meta = Meta { width, payload: width * 4, ..meta };
    let Some(threshold) = storage.threshold().filter(|&t| !value_lists::are_smaller(permutations, t)) else {
        let (family, threshold) = (StoredFamily::Values as u8, 1.0 / f64::from(permutations));
        return Ok(Meta { family, bands: width, threshold, distance: width - 1, ..meta });
    };
    let bands = Bands::minhash(permutations, threshold).count() as u32;
    Ok(Meta { bands, threshold, distance: width - least_agreeing(threshold, permutations), ..meta })
}

impl SketchKeys {
    /// Returns the keys of an index, or None if its metapage contradicts itself.
    pub(super) fn from_meta(class: OperatorClass, meta: &Meta) -> Option<Self> {
        let Meta { hash_version, text_version, width, .. } = *meta;
        let (source, empty, k) =
            (Origin::of_sketch(|origin| origin as u8 == meta.tokenizer)?, false, meta.k as u16);
        let bands = Bands::new(width as u16, meta.bands.saturating_sub(1));
        let (header, size, payload) = if class == OperatorClass::Simhash {
            let header = SimhashHeader { hash_version, text_version, source, empty, k, bits: width as u16 };
            (ClassHeader::Simhash(header), check_bits(width.into()), width.div_ceil(8))
        } else {
            let (permutations, seed) = (width as u16, meta.seed.cast_signed());
            let header = MinhashHeader { hash_version, text_version, source, empty, k, permutations, seed };
            (ClassHeader::Minhash(header), check_permutations(width.into()), width.saturating_mul(4))
        };
        let right = size.is_ok()
            && (1..=LARGEST_PAYLOAD).contains(&(payload as usize))
            && payload == meta.payload
            && bands.count() == meta.bands as usize
            && (meta.family == StoredFamily::Pairs as u8 || meta.bands == width)
            && FeatureSpec::check_shingle("k", meta.k.into()).is_ok();
        right.then_some(Self { class, bands, meta: *meta, header })
    }

    /// Reports whether segments have a list for each value of the sketches.
    fn has_lists(&self) -> bool {
        self.meta.family == StoredFamily::Values as u8
    }

    fn signatures(&self, sketch: &[u8], signatures: &mut Vec<u64>) {
        signatures.clear();
        let push = |signature| signatures.push(signature);
        match self.header {
            ClassHeader::Minhash(_) if self.has_lists() => value_lists::signatures(sketch, push),
            ClassHeader::Minhash(header) => self.bands.of_minhash(&Minhash { header, values: sketch }, push),
            ClassHeader::Simhash(header) => self.bands.of_simhash(&Simhash { header, bits: sketch }, push),
        }
    }

    /// Returns a probe for the rows that differ from a target in at most `most` values or bits.
    fn near_target(&self, target: Target, most: u32) -> Probe {
        let sketch = match target {
            Target::Sketch(sketch) => sketch,
            Target::Unlike => return Probe::Everything,
            _ => return Probe::Nothing,
        };
        let signatures = ((most as usize) < self.bands.count()).then(|| {
            let mut signatures = Vec::new();
            self.signatures(&sketch, &mut signatures);
            // If at most d values differ, at least one of any d + 1 bands agrees.
            signatures.truncate(most as usize + 1);
            signatures
        });
        Probe::Near { signatures, sketch, most }
    }

    fn target_of(&self, header: &ClassHeader, sketch: &[u8]) -> Target {
        if !self.header.is_like(header) {
            Target::Unlike
        } else if header.is_empty() {
            Target::Ball(Box::new(Probe::Nothing))
        } else {
            Target::Sketch(sketch.to_vec())
        }
    }
}

impl Family for SketchKeys {
    fn describe(&self) -> String {
        let Self { meta: Meta { threshold, distance, .. }, header, .. } = self;
        let (name, header_text, bands) = (self.class.name(), header.describe(), self.bands.count());
        let found = match header {
            ClassHeader::Simhash(_) => format!("distance {distance}, {bands} blocks"),
            ClassHeader::Minhash(_) if self.has_lists() => format!("every threshold, {bands} lists"),
            ClassHeader::Minhash(_) => format!("threshold {threshold}, {bands} bands"),
        };
        format!("{name}: {header_text}; {found}")
    }

    fn usual_probes(&self) -> f64 {
        self.bands.count() as f64
    }

    unsafe fn read(&self, value: Datum) -> Result<ColumnValue> {
        // SAFETY: the caller's promise; the value is a varlena.
        let (header, sketch) = self.header.parse(unsafe { varlena_bytes(value) })?;
        if !self.header.takes(&header) {
            let (index, value, options) = (self.header.describe(), header.describe(), header.options());
            return Err(hints::other_sketch(self.class, &index, &value, &options));
        }
        let flags = if header.is_empty() { HeapRow::EMPTY } else { 0 };
        Ok(ColumnValue::Kept(StoredValue { flags, bytes: sketch.to_vec() }))
    }

    fn is_item(&self, _row: HeapRow, bytes: &[u8]) -> bool {
        bytes.len() == self.meta.payload as usize
    }

    fn post(&self, item: &Item<'_>, posted: &mut Posted) -> error::Result<HeapRow> {
        posted.sketch.clear();
        posted.sketch.extend_from_slice(item.bytes);
        if item.row.has(HeapRow::NULL | HeapRow::EMPTY) {
            posted.signatures.clear();
        } else {
            self.signatures(item.bytes, &mut posted.signatures);
        }
        Ok(item.row)
    }

    unsafe fn probe(&self, argument: Datum) -> Result<Probe> {
        // SAFETY: a ball, which is a varlena.
        let bytes = unsafe { varlena_bytes(argument) };
        let (header, sketch, most) = match self.header {
            ClassHeader::Simhash(_) => {
                let SimhashBall { middle, distance, .. } = SimhashBall::parse(bytes)?;
                (ClassHeader::Simhash(middle.header), middle.bits, distance.into())
            }
            ClassHeader::Minhash(_) => {
                let MinhashBall { middle, least_agreeing, .. } = MinhashBall::parse(bytes)?;
                let most = self.meta.width.saturating_sub(least_agreeing);
                (ClassHeader::Minhash(middle.header), middle.values, most)
            }
        };
        Ok(self.near_target(self.target_of(&header, sketch), most))
    }

    unsafe fn target(&self, argument: Datum) -> Result<Target> {
        // SAFETY: the caller's promise; a sketch is a varlena.
        let (header, sketch) = self.header.parse(unsafe { varlena_bytes(argument) })?;
        Ok(self.target_of(&header, sketch))
    }

    fn near(&self, target: &Target) -> Vec<(Probe, u64)> {
        /// The number of bands in the first probe.
        const FEW: u32 = 32;
        let Target::Sketch(_) = target else { return Vec::new() };
        let (values, bands) = (self.meta.width, self.bands.count() as u32);
        let mosts: Vec<u32> = if self.has_lists() {
            // Each of the later probes finds the rows with half as many values in common.
            let agreeing = (1..).map(|n| values >> n).take_while(|&agreeing| agreeing > 0);
            [values / 4].into_iter().chain(agreeing.map(|agreeing| values - agreeing)).collect()
        } else {
            let counts = (0..).map(|n| FEW << (2 * n)).take_while(|&few| few < bands);
            counts.chain([bands]).map(|bands| bands - 1).collect()
        };
        mosts.into_iter().map(|most| (self.near_target(target.clone(), most), most.into())).collect()
    }

    fn difference(&self, target: &[u8], sketch: &[u8]) -> u32 {
        match self.header {
            ClassHeader::Simhash(_) => simhash::hamming(target, sketch),
            ClassHeader::Minhash(_) => self.meta.width - minhash::agreeing(target, sketch),
        }
    }

    fn distance(&self, difference: u32) -> f64 {
        match self.header {
            ClassHeader::Simhash(_) => difference.into(),
            ClassHeader::Minhash(_) => {
                minhash::distance(self.meta.width - difference, self.meta.width as u16)
            }
        }
    }

    fn farthest(&self) -> u32 {
        self.meta.width
    }
}
