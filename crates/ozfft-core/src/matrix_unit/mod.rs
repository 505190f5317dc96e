//! The unit that multiplies digit matrices: small signed integers in, exact integer sums out.
//!
//! Every unit returns the same integers; which one runs is a matter of speed. The algorithm around it is written once,
//! in `bailey.rs`, and compiled for each unit's instruction set.

#[cfg(vector_unit)]
mod amx;
#[cfg(vector_unit)]
mod avx2;
#[cfg(vector_unit)]
mod avx512_vnni;
#[cfg(all(vector_unit, feature = "residues"))]
mod bytes_amx;
#[cfg(test)]
mod conformance;
#[cfg(all(test, feature = "residues"))]
mod conformance_bytes;
mod folded_rows;
#[cfg(vector_unit)]
mod folded_vnni;
mod four_rows;
#[cfg(neon_unit)]
mod neon_dot;
mod paired_digits;
pub(crate) mod register_rows;
#[cfg(feature = "residues")]
mod residue_numbers;
mod scalar;
mod wide_integer;

use crate::error::FftError;
use crate::recipe::Digits;
#[cfg(any(vector_unit, neon_unit))]
use crate::simd::inlined;
use crate::simd::{HalfRow, Pair, Vectors};
use crate::stages::digits::{DigitMatrix, bias};
#[cfg(feature = "residues")]
use crate::stages::residue_products::{ResidueEngine, ResidueMatrix};
use crate::substrate::{CpuUnit, Substrate, for_each_unit};
#[cfg(feature = "residues")]
use residues::{
    ResidueError, U256,
    bytes::ByteProducts,
    fp8::{Accumulator, Fp8Unit},
    products::Unit8,
};
use std::{any::Any, fmt, sync::Arc};

#[cfg(vector_unit)]
pub(crate) use amx::Amx;
#[cfg(vector_unit)]
pub(crate) use avx2::Avx2;
#[cfg(vector_unit)]
pub(crate) use avx512_vnni::Avx512Vnni;
use folded_rows::FoldedRows;
#[cfg(neon_unit)]
pub(crate) use neon_dot::NeonDot;
use register_rows::{MOST_PAIRS, RegisterRows, RowPairs, SpreadWord};
#[cfg(feature = "residues")]
pub(crate) use residue_numbers::ResidueNumbers;
pub(crate) use scalar::{Scalar, WideInteger};

/// Work that is compiled anew for every unit's instruction set: `run` and all it calls are inlined into `enter`.
pub trait Task {
    type Output;
    fn run(self) -> Self::Output;
}

/// Multiplies a matrix in digits into columns of `L` lines, real and imaginary parts at once.
pub(crate) trait MatrixUnit<const L: usize>: Copy + Send + Sync + 'static {
    /// The instruction set for everything around the products.
    type Vectors: Vectors<L>;
    /// Columns that one call takes at most.
    const COLUMNS: usize;

    /// Guard that must be alive on the multiplying thread during products.
    type Session;

    /// Prepares this thread for products.
    fn session(self) -> Self::Session;

    /// Runs a task with the unit's instructions. Never inlined: all steps in one function take LLVM minutes.
    #[inline(always)]
    fn enter<T: Task>(self, task: T) -> T::Output {
        enter_portable(task)
    }

    /// Words as the unit wants to find their digits: lower and upper halves.
    fn encode(digits: Digits, words: Pair<<Self::Vectors as Vectors<L>>::Words>)
    -> Halves<L, Self>;

    /// Whether words of at most four digits stay in 32-bit lanes from quantising to rounding.
    const SHORT: bool = false;

    /// [`MatrixUnit::encode`] for such words; there are lower halves alone.
    #[inline(always)]
    fn encode_short(digits: Digits, words: VectorHalves<L, Self>) -> VectorHalves<L, Self> {
        Self::encode(digits, Self::Vectors::widen_halves(words)).0
    }

    /// In how many parts a product is computed, so that other work can go on in between.
    #[inline(always)]
    fn parts(_: &PackedMatrix) -> usize {
        1
    }

    /// All sums of the kept diagonals for every row of the matrix, or a part of them. `data` has
    /// [`PackedMatrix::data_rows`] rows for each column, `sums` has [`PackedMatrix::sum_rows`].
    fn multiply(
        self,
        matrix: &PackedMatrix,
        digits: Digits,
        columns: usize,
        part: usize,
        data: &[HalfRow<L>],
        sums: &mut [HalfRow<L>],
    );

    /// Whether some matrices are multiplied row by row ([`MatrixUnit::row_pairs`]).
    const ROW_BY_ROW: bool = false;

    /// The matrix for products row by row, where the unit multiplies it so.
    #[inline(always)]
    fn register_rows(_: &PackedMatrix) -> Option<&RegisterRows> {
        None
    }

    /// The digits of a word, lower and upper halves, in pairs of 16 bits.
    fn spread(_word: Halves<L, Self>, _place: &mut SpreadWord<L>) {
        unreachable!("the unit multiplies no row alone")
    }

    /// Sums and differences of the digits of two words, in pairs of 16 bits.
    fn spread_folded(
        _words: Pair<Halves<L, Self>>,
        _sums: &mut SpreadWord<L>,
        _differences: &mut SpreadWord<L>,
    ) {
        unreachable!("the unit multiplies no row alone")
    }

    /// All `P` pairs of some digits that have been spread times what each of them meets, from these sums on.
    fn row_pairs<const P: usize>(
        _offsets: &[i32; MOST_PAIRS],
        _entries: &[i32],
        _digits: &[SpreadWord<L>],
    ) -> RowPairs<L, Self> {
        unreachable!("the unit multiplies no row alone")
    }

    /// Words, real and imaginary parts, as [`MatrixUnit::multiply_outputs`] wants to find their digits.
    fn encode_outputs(_: &PackedOutputs, _: Digits, _words: &[[i64; 2]], _data: &mut [[i32; 2]]) {
        unreachable!("the unit packs no matrices for lanes that are outputs")
    }

    /// The pairs of `L` rows of a matrix, the group of this number, times one column of words, with rows in the lanes.
    fn multiply_outputs(
        self,
        _: &PackedOutputs,
        _: Digits,
        _group: usize,
        _data: &[[i32; 2]],
        _sums: &mut [HalfRow<L>],
    ) {
        unreachable!("the unit packs no matrices for lanes that are outputs")
    }

    /// Pair number `pair` (see [`Digits::pairs`]) of a row of the product, out of the sums of one column. Units that do
    /// not say otherwise leave the pairs of a row side by side.
    #[inline(always)]
    fn pair(
        _: &PackedMatrix,
        digits: Digits,
        sums: &[HalfRow<L>],
        row: usize,
        pair: usize,
    ) -> VectorHalves<L, Self> {
        Self::Vectors::load_halves(&sums[row * digits.pairs() + pair])
    }

    /// All pairs of a row, where the recipe has `P` of them and no diagonals below the unit of the data words.
    // Loops by number are unrolled where iterators over arrays of registers are not.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn pairs<const P: usize>(
        _: &PackedMatrix,
        _: Digits,
        sums: &[HalfRow<L>],
        row: usize,
    ) -> [VectorHalves<L, Self>; P] {
        let mut halves = [Self::Vectors::splat_halves(0); P];
        let sums = &sums[row * P..][..P];
        for q in 0..P {
            halves[q] = Self::Vectors::load_halves(&sums[q]);
        }
        halves
    }
}

/// Runs a task with the instructions that every processor has, for all units that need no others.
#[inline(never)]
fn enter_portable<T: Task>(task: T) -> T::Output {
    task.run()
}

/// A sum of kept diagonals, which is one integer, as the pairs of a row.
fn put_pairs(product: i128, digits: Digits, sums: &mut [HalfRow<1>], row: usize, part: usize) {
    // An empty diagonal may have been added below the last one.
    let padding = 8 * ((digits.diagonals - digits.data) % 2);
    let mut rest = product << padding;
    let pairs = &mut sums[row * digits.pairs()..][..digits.pairs()];
    let last = pairs.len() - 1;
    for pair in &mut pairs[..last] {
        pair[0][part] = i32::from(rest as u16);
        rest >>= 16;
    }
    debug_assert!(i32::try_from(rest).is_ok(), "head-room: {rest}");
    pairs[last][0][part] = rest as i32;
}

/// Digits with their bias, as unsigned bytes: lower and upper halves.
#[inline(always)]
fn unsigned_digits<const L: usize, V: Vectors<L>>(
    digits: Digits,
    (re, im): Pair<V::Words>,
) -> (V::Halves, V::Halves) {
    let bias = V::splat(bias(digits.data) as i64);
    V::split(V::add(re, bias), V::add(im, bias))
}

/// Digits as signed bytes: lower and upper halves.
#[cfg(any(vector_unit, neon_unit))]
#[inline(always)]
fn signed_digits<const L: usize, V: Vectors<L>>(
    digits: Digits,
    (re, im): Pair<V::Words>,
) -> (V::Halves, V::Halves) {
    let bias = V::splat(bias(digits.data) as i64);
    let signed = inlined(
        #[inline(always)]
        |x| V::xor(V::add(x, bias), bias),
    );
    V::split(signed(re), signed(im))
}

/// [`unsigned_digits`] of words of at most four digits.
#[cfg(vector_unit)]
#[inline(always)]
fn unsigned_short_digits<const L: usize, V: Vectors<L>>(
    digits: Digits,
    words: V::Halves,
) -> V::Halves {
    V::add_halves(words, V::splat_halves(bias(digits.data) as i32))
}

/// [`signed_digits`] of words of at most four digits.
#[cfg(vector_unit)]
#[inline(always)]
fn signed_short_digits<const L: usize, V: Vectors<L>>(
    digits: Digits,
    words: V::Halves,
) -> V::Halves {
    let bias = V::splat_halves(bias(digits.data) as i32);
    V::xor_halves(V::add_halves(words, bias), bias)
}

/// Half rows in registers.
pub(crate) type VectorHalves<const L: usize, U> =
    <<U as MatrixUnit<L>>::Vectors as Vectors<L>>::Halves;

/// Lower and upper halves of words.
pub(crate) type Halves<const L: usize, U> = (
    <<U as MatrixUnit<L>>::Vectors as Vectors<L>>::Halves,
    <<U as MatrixUnit<L>>::Vectors as Vectors<L>>::Halves,
);

/// The matrix digits that the four data digits of a half, `first_byte` bytes above the lowest, meet on a diagonal.
/// Byte `b` of a half is data digit `data - 1 - first_byte - b`.
pub fn meeting(
    matrix: &DigitMatrix,
    digits: Digits,
    first_byte: u32,
    (row, slot): (usize, usize),
    diagonal: u32,
) -> [u8; 4] {
    let planes = matrix.row(row, digits);
    std::array::from_fn(|b| {
        let digit = (digits.data - 1).checked_sub(first_byte + b as u32);
        let entry = digit
            .and_then(|t| diagonal.checked_sub(t))
            .filter(|&i| i < digits.matrix)
            .map(|i| planes[(digits.matrix - 1 - i) as usize * matrix.slots + slot]);
        entry.unwrap_or(0) as u8
    })
}

/// Requirements of the registry on each unit: detection, and layout of matrices.
pub(crate) trait ListedUnit: Copy + 'static {
    /// A digit matrix in the form that the products of the unit read.
    type Packed: fmt::Debug + Send + Sync;

    /// The unit that transforms with this one's matrices: itself, or one that has the same instructions around its products.
    type Transforming;
    fn transforming(self) -> Self::Transforming;

    /// The unit, where this processor and its operating system offer it.
    fn detect() -> Option<Self>;

    fn pack(matrix: &Arc<DigitMatrix>, digits: Digits) -> Self::Packed;

    /// A matrix for products with rows in the lanes, where the unit has them: `rows` are the rows of all lanes, in whole groups of
    /// as many as there are lanes. Lanes without a row are 0. Only for truncated products with as many diagonals as digits.
    fn pack_outputs(
        _: &Arc<DigitMatrix>,
        _: Digits,
        _rows: &[Option<usize>],
    ) -> Option<PackedOutputs> {
        None
    }

    /// Rows of data and of sums for one column, where they are not just those of the matrix.
    fn rows(_: &Self::Packed) -> Option<(usize, usize)> {
        None
    }

    /// The unit as what multiplies matrices of bytes.
    #[cfg(feature = "residues")]
    fn byte_products(self) -> Arc<dyn ByteProducts>;
}

/// A digit matrix for products with rows in the lanes, which units of several lanes have.
#[derive(Debug)]
#[cfg_attr(not(vector_unit), allow(dead_code))]
pub(crate) struct PackedOutputs {
    pub(crate) slots: usize,
    /// Those of all groups of as many rows as there are lanes.
    entries: Vec<i32>,
    groups: usize,
    /// Where rows are folded (`folded_rows.rs`): the source of the rows in even lanes, those in odd lanes having the other.
    even_source: Option<usize>,
}

impl PackedOutputs {
    pub(crate) fn table_bytes(&self) -> usize {
        size_of_val(&self.entries[..])
    }

    /// The entries of a group.
    #[cfg(vector_unit)]
    #[inline(always)]
    fn group(&self, group: usize) -> &[i32] {
        let size = self.entries.len() / self.groups;
        &self.entries[group * size..][..size]
    }
}

/// A digit matrix as one unit wants it.
pub struct PackedMatrix {
    rows: usize,
    slots: usize,
    data_rows: usize,
    sum_rows: usize,
    /// [`ListedUnit::Packed`] of the unit.
    packed: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for PackedMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, slots) = (self.rows, self.slots);
        write!(f, "PackedMatrix({rows} × {slots})")
    }
}

impl PackedMatrix {
    /// The matrix for a listed unit.
    fn for_unit<U: ListedUnit>(matrix: &Arc<DigitMatrix>, digits: Digits) -> PackedMatrix {
        let (rows, slots) = (matrix.rows, matrix.slots);
        let halves = if digits.data > 4 { 2 } else { 1 };
        let packed = U::pack(matrix, digits);
        let plain = (halves * slots, rows * digits.pairs());
        let (data_rows, sum_rows) = U::rows(&packed).unwrap_or(plain);
        PackedMatrix {
            rows,
            slots,
            data_rows,
            sum_rows,
            packed: Box::new(packed),
        }
    }

    #[cfg(feature = "residues")]
    /// A matrix for [`Unit::Residues`], whose sums with the words of a step stay below `bound`.
    pub(crate) fn of_residues(
        engine: &ResidueEngine,
        matrix: &DigitMatrix,
        digits: Digits,
        bound: U256,
    ) -> Result<PackedMatrix, ResidueError> {
        let (rows, slots) = (matrix.rows, matrix.slots);
        let halves = if digits.data > 4 { 2 } else { 1 };
        let residues = ResidueMatrix::new(engine, matrix, digits, bound)?;
        Ok(PackedMatrix {
            rows,
            slots,
            data_rows: halves * slots,
            sum_rows: rows * digits.pairs(),
            packed: Box::new(residues),
        })
    }

    /// The form that the products read.
    #[inline]
    fn packed<P: 'static>(&self) -> &P {
        match self.packed.downcast_ref() {
            Some(packed) => packed,
            None => unreachable!("the matrix was packed for another unit"),
        }
    }

    /// The digits, as the portable units keep them.
    pub fn digits(&self) -> &DigitMatrix {
        match self
            .packed
            .downcast_ref::<FoldedRows<{ four_rows::ROWS }>>()
        {
            Some(rows) => rows.digits(),
            None => self.packed::<Arc<DigitMatrix>>(),
        }
    }

    /// Rows of digits for one column: the upper halves of all slots, where words have more than four digits, then the
    /// lower halves.
    pub(crate) fn data_rows(&self) -> usize {
        self.data_rows
    }

    /// Rows of sums for one column.
    pub(crate) fn sum_rows(&self) -> usize {
        self.sum_rows
    }
}

/// Everything about a unit that is known only at run time.
macro_rules! units {
    ($($(#[doc = $doc:literal])* $name:ident, $lanes:literal, $text:literal, $compiled:meta, $needs:literal;)*) => {
        /// A unit that this processor has.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Unit {
            $(#[cfg($compiled)] $name($name),)*
            /// Residues on any of the others, as configured by the engine.
            #[cfg(feature = "residues")]
            Residues,
        }

        impl Unit {
            /// The unit of a name, where this processor has it and `OZFFT_WITHOUT` does not leave it out. Looking for AMX asks Linux for its
            /// tiles, which the process then has for good.
            fn detect(unit: CpuUnit) -> Option<Unit> {
                if left_out(unit) {
                    return None;
                }
                match unit {
                    $(
                        #[cfg($compiled)]
                        CpuUnit::$name => $name::detect().map(Unit::$name),
                    )*
                    _ => None,
                }
            }

            /// The feature that a processor without the unit lacks.
            fn needs(unit: CpuUnit) -> &'static str {
                match unit {
                    $(CpuUnit::$name => $needs,)*
                    _ => "such unit",
                }
            }

            pub fn name(self) -> &'static str {
                match self {
                    $(#[cfg($compiled)] Unit::$name(_) => $text,)*
                    #[cfg(feature = "residues")]
                    Unit::Residues => "residues",
                }
            }

            /// Lines that it transforms side by side.
            #[inline]
            pub fn lanes(self) -> usize {
                match self {
                    $(#[cfg($compiled)] Unit::$name(_) => $lanes,)*
                    #[cfg(feature = "residues")]
                    Unit::Residues => 1,
                }
            }

            /// [`MatrixUnit::ROW_BY_ROW`] of the unit.
            pub(crate) fn is_row_by_row(self) -> bool {
                match self {
                    $(#[cfg($compiled)] Unit::$name(_) => <$name as MatrixUnit<$lanes>>::ROW_BY_ROW,)*
                    #[cfg(feature = "residues")]
                    Unit::Residues => false,
                }
            }

            /// [`ListedUnit::pack_outputs`] of the unit.
            pub(crate) fn pack_outputs(
                self,
                matrix: &Arc<DigitMatrix>,
                digits: Digits,
                rows: &[Option<usize>],
            ) -> Option<PackedOutputs> {
                match self {
                    $(#[cfg($compiled)] Unit::$name(_) => $name::pack_outputs(matrix, digits, rows),)*
                    #[cfg(feature = "residues")]
                    Unit::Residues => None,
                }
            }

            /// Runs a task with the unit's instructions.
            #[inline]
            pub fn enter<T: Task>(self, task: T) -> T::Output {
                match self {
                    $(
                        #[cfg($compiled)]
                        Unit::$name(unit) => MatrixUnit::<$lanes>::enter(unit, task),
                    )*
                    #[cfg(feature = "residues")]
                    Unit::Residues => task.run(),
                }
            }

            /// The unit as what multiplies matrices of bytes.
            ///
            /// Every product on AMX sets the tiles up by itself, which takes longer than a small product: whoever has many of them keeps
            /// the unit's session alive on the thread meanwhile.
            #[cfg(feature = "residues")]
            pub fn byte_products(self) -> Arc<dyn ByteProducts> {
                match self {
                    $(#[cfg($compiled)] Unit::$name(unit) => unit.byte_products(),)*
                    Unit::Residues => Scalar.byte_products(),
                }
            }
        }

        impl PackedMatrix {
            pub(crate) fn new(unit: Unit, matrix: &Arc<DigitMatrix>, digits: Digits) -> PackedMatrix {
                match unit {
                    $(#[cfg($compiled)] Unit::$name(_) => PackedMatrix::for_unit::<$name>(matrix, digits),)*
                    #[cfg(feature = "residues")]
                    Unit::Residues => unreachable!("residues have a constructor of their own"),
                }
            }
        }
    };
}
for_each_unit!(units);

/// A thread's session of a unit that needs one, for several calls: [`MatrixUnit::session`] of each of them is then within it.
#[derive(Default)]
pub struct UnitSession {
    #[cfg(vector_unit)]
    _tiles: Option<<Amx as MatrixUnit<8>>::Session>,
}

impl Unit {
    /// Prepares this thread for products.
    #[inline]
    pub fn session(self) -> UnitSession {
        match self {
            #[cfg(vector_unit)]
            Unit::Amx(unit) => UnitSession {
                _tiles: Some(unit.session()),
            },
            _ => UnitSession::default(),
        }
    }
}

/// Whether the processor has AMX, and Linux refuses the tiles.
fn tiles_are_refused() -> bool {
    #[cfg(vector_unit)]
    let refused = Amx::present() && Amx::detect().is_none();
    #[cfg(not(vector_unit))]
    let refused = false;
    refused
}

/// The units that `OZFFT_WITHOUT` leaves out, so that a machine that has them behaves like one that has not; or what it names that is no unit.
fn without() -> &'static Result<Vec<CpuUnit>, FftError> {
    static WITHOUT: std::sync::OnceLock<Result<Vec<CpuUnit>, FftError>> =
        std::sync::OnceLock::new();
    WITHOUT.get_or_init(|| {
        let value = std::env::var_os("OZFFT_WITHOUT").unwrap_or_default();
        units_named(&value.to_string_lossy())
    })
}

/// Names of units with commas between them. The portable units are always there, so they are accepted and not returned.
fn units_named(names: &str) -> Result<Vec<CpuUnit>, FftError> {
    let names = names.split(',').map(str::trim);
    let mut units = Vec::new();
    for name in names.filter(|name| !name.is_empty()) {
        let unit = CpuUnit::INTEGERS.iter().find(|unit| unit.name() == name);
        match unit {
            Some(CpuUnit::Scalar | CpuUnit::WideInteger) => {}
            Some(&unit) => units.push(unit),
            None => {
                let known: Vec<&str> = CpuUnit::INTEGERS.iter().map(|unit| unit.name()).collect();
                return Err(FftError::UnknownUnit {
                    name: name.into(),
                    known: known.join(", "),
                });
            }
        }
    }
    Ok(units)
}

/// Whether the environment variable leaves a unit out.
pub fn left_out(unit: CpuUnit) -> bool {
    without().as_ref().is_ok_and(|units| units.contains(&unit))
}

impl Unit {
    /// The unit for a substrate that names no other than AMX, where tiles are not worth setting up: it multiplies in vectors, and Linux is not
    /// asked for tiles.
    pub fn without_tiles(substrate: Substrate) -> Result<Unit, FftError> {
        let vectors = match (without(), substrate) {
            (Ok(_), Substrate::Auto | Substrate::Int8 | Substrate::Cpu(CpuUnit::Amx)) => {
                Unit::detect(CpuUnit::Avx512Vnni)
            }
            _ => None,
        };
        vectors.map_or_else(|| Unit::new(substrate), Ok)
    }

    /// The portable unit, which every processor has.
    pub const SCALAR: Unit = Unit::Scalar(Scalar);

    /// The unit for a substrate; for `Auto` the fastest that this processor has.
    pub fn new(substrate: Substrate) -> Result<Unit, FftError> {
        if let Err(unknown) = without() {
            return Err(unknown.clone());
        }
        match substrate {
            Substrate::Auto | Substrate::Int8 => {
                let mut units = CpuUnit::INTEGERS.iter();
                Ok(units.find_map(|&unit| Unit::detect(unit)).unwrap_or(Unit::SCALAR))
            }
            Substrate::Cpu(CpuUnit::Avx512Bf16 | CpuUnit::AmxBf16) => Err(FftError::Unsupported(format!(
                "the substrate {substrate} multiplies bf16 numbers, for the floats engine alone; take a mode of that engine, or the substrate auto"
            ))),
            Substrate::Cpu(unit) => Unit::detect(unit).ok_or_else(|| {
                FftError::Unsupported(format!(
                    "this processor, or its operating system, offers no {} (or OZFFT_WITHOUT leaves it out); take the substrate auto or scalar",
                    Unit::needs(unit)
                ))
            }),
            Substrate::Gpu(_) => Err(FftError::Unsupported(format!(
                "the substrate {substrate} is a GPU's; plan for a device cuda, or take the substrate auto"
            ))),
            Substrate::Fp8 => Err(FftError::Unsupported(
                "on the processor fp8 is simulated, for the engine residues alone; take that engine, or the substrate auto".into(),
            )),
        }
    }

    /// Why `Auto` or `Int8` has not taken a faster unit that the processor has; empty when it has, and for all others.
    pub fn passed_over(substrate: Substrate, wants_tiles: bool) -> String {
        if !matches!(substrate, Substrate::Auto | Substrate::Int8) {
            return String::new();
        }
        if wants_tiles && !left_out(CpuUnit::Amx) && tiles_are_refused() {
            return "; the kernel refuses AMX's tiles".into();
        }
        match without() {
            Ok(units) if !units.is_empty() => {
                let names: Vec<&str> = units.iter().map(|unit| unit.name()).collect();
                format!("; OZFFT_WITHOUT leaves out {}", names.join(", "))
            }
            _ => String::new(),
        }
    }
}

#[cfg(feature = "residues")]
/// The unit that multiplies residues for a substrate, and its name.
pub fn residue_unit(substrate: Substrate) -> Result<(Unit8, &'static str), FftError> {
    match substrate {
        Substrate::Fp8 => Ok((
            Unit8::Fp8(Fp8Unit::new(Accumulator::HOPPER)),
            "fp8-simulated",
        )),
        Substrate::Cpu(CpuUnit::WideInteger) => Err(FftError::Unsupported(
            "wide integers have no residues; take the substrate auto or scalar".into(),
        )),
        substrate => {
            let unit = Unit::new(substrate)?;
            Ok((Unit8::Int8(unit.byte_products()), unit.name()))
        }
    }
}
