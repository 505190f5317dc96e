//! The kernel template for lines of one block of one or two steps (`cuda/block/bailey_block.cuh`): its parameters for every length, kernels
//! that are compiled in advance, and the source of any other for a compiler at run time.

pub use crate::bailey_number::Number;
use crate::measured::measured;

/// The list of lengths and of the parameters that were fastest.
const LENGTHS: &str = include_str!("../cuda/block/bailey_lengths.def");

image!(
    /// The kernels that are compiled in advance (`cuda/block/bailey_lines.cu`), with conversion instructions, for compute capability 8.0 and
    /// later.
    IMAGE,
    "bailey_lines"
);

/// A header as the compiler asks for it, and its text.
macro_rules! headers {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../cuda/", $name)))),*]
    };
}

/// What kernels of the template include.
const SOURCES: [(&str, &str); 35] = headers!(
    "arch/async_copy.cuh",
    "arch/bailey_instructions.cuh",
    "arch/bulk_copy.cuh",
    "arch/launches.cuh",
    "arch/mma_sync.cuh",
    "arch/mma_sync_f16.cuh",
    "arch/mma_sync_fp8.cuh",
    "arch/threads.cuh",
    "arch/wgmma.cuh",
    "block/bailey_block.cuh",
    "block/bailey_digits.cuh",
    "block/bailey_f16.cuh",
    "block/bailey_fewer.cuh",
    "block/bailey_fp8.cuh",
    "block/bailey_real.cuh",
    "block/bailey_shape.cuh",
    "block/bailey_single.cuh",
    "block/bailey_three.cuh",
    "block/bailey_wgmma.cuh",
    "hopper/tuned_block.cuh",
    "numerics/arithmetic.cuh",
    "numerics/convert.cuh",
    "numerics/numbers.cuh",
    "numerics/quantise.cuh",
    "numerics/reconstruct.cuh",
    "numerics/rotate.cuh",
    "passes/bailey_chirp.cuh",
    "passes/bailey_convolution.cuh",
    "passes/bailey_long.cuh",
    "passes/bailey_passes.cuh",
    "passes/bailey_real_passes.cuh",
    "passes/bailey_words.cuh",
    "portable/lines.cuh",
    "portable/panel.cuh",
    "portable/task.cuh"
);

/// What a compiler at run time has no header for.
const CSTDINT: &str = "\
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long uintptr_t;
";

/// Headers for a compiler at run time: names, and texts.
pub fn headers() -> impl Iterator<Item = (&'static str, &'static str)> {
    SOURCES.into_iter().chain([("cstdint", CSTDINT)])
}

/// Shared memory that a block may have, in kilobytes: kernels are made for the first that a GPU has.
pub(crate) const SHARED_KILOBYTES: [usize; 2] = [227, 99];

/// What a launch has to know of a kernel of the template.
pub trait KernelShape {
    /// The kernel's name, without and with conversion instructions.
    fn name(&self, conversions: bool) -> String;
    /// The type of its parameters.
    fn parameters(&self) -> &'static str {
        "TunedArguments"
    }
    /// Lines of a group of warps at a time.
    fn lines(&self) -> usize;
    /// Threads of a block.
    fn threads(&self) -> u32;
    /// Shared memory of a block.
    fn shared_bytes(&self) -> usize;
    /// Whether the kernel is in [`IMAGE`].
    fn is_compiled_in_advance(&self, conversions: bool) -> bool;
    /// The kernel's source.
    fn source(&self, conversions: bool) -> String;
    /// What it is for, whatever its parameters: what those of the fastest are kept by. None where there is nothing to choose.
    fn purpose(&self) -> Option<String> {
        None
    }
    /// The parameters, in words.
    fn choice(&self) -> String {
        String::new()
    }
    /// A kernel for the same purpose that is done with few lines sooner: warps have as little to do as can be.
    fn for_few(&self) -> Option<Box<dyn KernelShape>> {
        None
    }
    /// Kernels for the same purpose, the most promising first.
    fn candidates(&self) -> Vec<Box<dyn KernelShape>> {
        Vec::new()
    }
}

/// `BlockShape` of `bailey_shape.cuh`: the parameters of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockShape {
    /// Points of the first step.
    pub first: usize,
    /// Points of the last one; 1 where there is none.
    pub last: usize,
    /// Lines of a group of warps at a time.
    pub lines: usize,
    /// Tiles of eight columns that a warp takes together in the first step, and of rows in the last one.
    pub units: [usize; 2],
    /// Whether neighbouring lines are neighbours in memory; else lines are contiguous.
    pub strided: bool,
    /// Groups of warps that share the tables in shared memory; 0: one group, and tables in the cache.
    pub groups: usize,
    /// What numbers are, and how many digits words have.
    pub number: Number,
    /// Shared memory that the groups were counted for.
    kilobytes: usize,
}

/// Pairs of a step's elements.
pub(crate) const fn slots(n: usize) -> usize {
    n.div_ceil(2)
}

/// Whether a step is a product; those of 1, 2 and 4 points are additions.
pub(crate) const fn is_matrix(n: usize) -> bool {
    !matches!(n, 1 | 2 | 4)
}

/// `StepShape::TILES`
pub(crate) const fn tiles(n: usize) -> usize {
    if is_matrix(n) {
        slots(n).div_ceil(8)
    } else {
        0
    }
}

/// `StepShape::UPPER` and `LOWER`
pub(crate) const fn pieces(n: usize) -> [usize; 2] {
    match slots(n) % 8 {
        1..=4 => [slots(n) / 8 + 1, 2 * (slots(n) / 8) + 1],
        _ => [slots(n).div_ceil(8), 2 * slots(n).div_ceil(8)],
    }
}

/// `StepShape::MATRIX_BYTES`
pub(crate) const fn matrix_bytes(n: usize, number: Number) -> usize {
    let [upper, lower] = pieces(n);
    let tile = match number {
        Number::Double | Number::DoubleWgmma | Number::DoubleFewer { .. } | Number::Single => {
            let diagonals = number.diagonals() as usize;
            let upper_diagonals = if diagonals < 4 { diagonals } else { 4 };
            256 * (upper_diagonals * upper + (diagonals - upper_diagonals) * lower)
        }
        Number::DoubleFp8 => FP8_COLUMNS * 256 * upper,
        Number::DoubleF16 => F16_COLUMNS * 256 * upper,
    };
    tiles(n) * tile
}

/// Columns of nibbles of a piece of a matrix in fp8.
pub const FP8_COLUMNS: usize = 16;

/// Columns of digits of a piece of a matrix in f16.
pub const F16_COLUMNS: usize = 8;

/// `StepShape::QUADS`
pub(crate) const fn quads(n: usize) -> usize {
    slots(n).div_ceil(4)
}

/// The next number from `least` on with this remainder.
pub(crate) const fn next_with(least: usize, remainder: usize, modulus: usize) -> usize {
    least + (remainder + modulus - least % modulus) % modulus
}

/// Bytes of the tables of both steps for f64: `TableShape::BYTES`.
pub const fn table_bytes(first: usize, last: usize) -> usize {
    table_bytes_for(Number::Double, first, last)
}

/// The same for any numbers.
pub const fn table_bytes_for(number: Number, first: usize, last: usize) -> usize {
    let matrices = 2 * (matrix_bytes(first, number) + matrix_bytes(last, number));
    let constants = 128 * tiles(first) + 128 + 192 * tiles(last);
    matrices + constants + 16 * (first / 2 + 1) * (last / 2 + 1)
}

impl BlockShape {
    /// The shape for steps of so many points on a GPU whose blocks may have so many bytes of shared memory: that of the list, or one by
    /// rule; none where the template does not take the steps.
    pub fn new(
        number: Number,
        [first, last]: [usize; 2],
        strided: bool,
        shared_bytes: usize,
    ) -> Option<Self> {
        let fitting = |kilobytes: &usize| kilobytes << 10 <= shared_bytes;
        let kilobytes = SHARED_KILOBYTES.into_iter().find(fitting)?;
        // `BlockShape` asserts the same; two points as a last step do not occur.
        if !is_matrix(first) || first > 64 || last > 64 || last == 2 {
            return None;
        }
        BlockShape::usual(number, [first, last], strided, kilobytes)
    }

    /// That of the list, or the one by rule.
    fn usual(
        number: Number,
        [first, last]: [usize; 2],
        strided: bool,
        kilobytes: usize,
    ) -> Option<Self> {
        let wanted = (first, last, strided);
        let is_it = |shape: &BlockShape| (shape.first, shape.last, shape.strided) == wanted;
        let found = listed().map(|(shape, _)| shape).find(is_it);
        // What was measured was int8; fp8 and f16 take twice the registers for digits.
        let found = match number {
            Number::Double | Number::DoubleFewer { .. } | Number::Single => found,
            Number::DoubleFp8 => None,
            Number::DoubleWgmma => listed_for_warpgroups().find(is_it),
            Number::DoubleF16 => found.and_then(|shape| shape.with_registers_for(number)),
        };
        let found = found.or_else(|| by_rule(number, [first, last], strided))?;
        let shape = found.of(number).within(kilobytes)?;
        Some(shape.as_measured().unwrap_or(shape))
    }

    /// With the parameters that were measured to be fastest, where they are not on the list.
    fn as_measured(&self) -> Option<Self> {
        let [lines, first, last, groups] = measured(&self.purpose()?)?;
        Some(BlockShape {
            lines,
            units: [first, last],
            groups,
            ..*self
        })
    }

    /// With as many of the groups as have registers for digits of such numbers, where these allow as many units.
    fn with_registers_for(self, number: Number) -> Option<Self> {
        let most = most_warps_for(number, [self.first, self.last], self.units)?;
        let groups = self.groups.min(most / self.warps());
        (groups > 0).then_some(BlockShape { groups, ..self })
    }

    /// For such numbers.
    fn of(self, number: Number) -> Self {
        let groups = match number {
            Number::Double
            | Number::DoubleFewer { .. }
            | Number::DoubleFp8
            | Number::DoubleF16
            | Number::DoubleWgmma => self.groups,
            // Their digits leave registers for more warps.
            Number::Single => self.groups.max(MOST_WARPS / self.warps()).min(15),
        };
        BlockShape {
            number,
            groups,
            ..self
        }
    }

    /// All parameters for the same steps, the cheapest first.
    fn fitting(&self) -> Vec<Self> {
        let mut ranked = ranked(self.number, [self.first, self.last], self.strided);
        ranked.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let shapes = ranked.into_iter().map(|(_, shape)| shape.of(self.number));
        shapes
            .filter_map(|shape| shape.within(self.kilobytes))
            .collect()
    }

    /// Whether its parameters are those that are taken unless others were measured to be faster.
    fn is_usual(&self) -> bool {
        let steps = [self.first, self.last];
        BlockShape::usual(self.number, steps, self.strided, self.kilobytes) == Some(*self)
    }

    /// With as many of the groups as fit: `Within`.
    fn within(mut self, kilobytes: usize) -> Option<Self> {
        let bytes = kilobytes << 10;
        let room = bytes.saturating_sub(self.common_bytes() + self.table_bytes());
        self.groups = self.groups.min(room / self.group_bytes());
        self.kilobytes = kilobytes;
        // The tensor unit reads matrices from shared memory where warps multiply together.
        let has_tables = self.groups > 0 || self.number.together() == 1;
        (self.shared_bytes() <= bytes && has_tables).then_some(self)
    }

    /// Strided lines of a pass of several.
    pub(crate) fn with_lines(
        [first, last]: [usize; 2],
        lines: usize,
        units: [usize; 2],
        groups: usize,
    ) -> Self {
        BlockShape {
            first,
            last,
            lines,
            units,
            strided: true,
            groups,
            number: Number::Double,
            kilobytes: SHARED_KILOBYTES[0],
        }
    }

    fn table_bytes(&self) -> usize {
        table_bytes_for(self.number, self.first, self.last)
    }

    /// `BlockShape::WARPS`: of a group.
    fn warps(&self) -> usize {
        let units = (self.lines * self.last).div_ceil(8 * self.units[0]);
        units.next_multiple_of(self.number.together())
    }

    /// At most: the exponent that all lines have in common, and what brings the tables to where the tensor unit reads them.
    fn common_bytes(&self) -> usize {
        if self.number.together() == 1 { 16 } else { 128 }
    }

    /// `BlockShape::GROUP`: shared memory of a group.
    fn group_bytes(&self) -> usize {
        self.lines * (self.word_bytes() + 2 * 16)
    }

    /// Words of a line between the steps.
    pub(crate) fn word_bytes(&self) -> usize {
        let pitch = match self.strided {
            true => next_with(self.last, 1, 2),
            false => next_with(self.last, 2, 4),
        };
        let line = match self.strided {
            true => next_with(self.first * pitch, 4, 8),
            false => self.first * pitch,
        };
        if self.last == 1 { 0 } else { 16 * line }
    }

    /// The shape as a type of the kernels' source.
    pub fn type_name(&self) -> String {
        let BlockShape {
            first,
            last,
            lines,
            units: [first_units, last_units],
            strided,
            groups,
            ..
        } = self;
        let number = match self.number {
            Number::Double => String::new(),
            number => format!(", {strided}{}", number.last_parameter()),
        };
        format!(
            "bailey::BlockShape<{first}, {last}, {lines}, {first_units}, {last_units}, {strided}, {groups}{number}>"
        )
    }
}

impl KernelShape for BlockShape {
    fn name(&self, conversions: bool) -> String {
        // What needs no more is in the image once.
        let kilobytes = match self.shared_bytes() <= 99 << 10 {
            true => 99,
            false => self.kilobytes,
        };
        let BlockShape { first, last, .. } = self;
        let place = if self.strided {
            "strided"
        } else {
            "contiguous"
        };
        let conversions = if conversions { "_conversions" } else { "" };
        let number = self.number.prefix();
        let parameters = match self.is_usual() {
            true => String::new(),
            false => {
                let [one, other] = self.units;
                format!("_{}_{one}{other}_{}", self.lines, self.groups)
            }
        };
        format!("bailey_{number}{first}x{last}_{place}{parameters}_{kilobytes}{conversions}")
    }

    fn lines(&self) -> usize {
        self.lines
    }

    fn threads(&self) -> u32 {
        (self.groups.max(1) * 32 * self.warps()) as u32
    }

    fn shared_bytes(&self) -> usize {
        let tables = match self.groups {
            0 => 0,
            _ => self.table_bytes(),
        };
        // `BlockShape::TABLES`
        let start = self.groups.max(1) * self.group_bytes() + 16;
        let alignment = if self.number.together() == 1 { 16 } else { 128 };
        start.next_multiple_of(alignment) + tables
    }

    fn is_compiled_in_advance(&self, conversions: bool) -> bool {
        let same = |other: &BlockShape| {
            (other.first, other.last, other.strided) == (self.first, self.last, self.strided)
        };
        let usual = self.number == Number::Double && self.is_usual();
        conversions && usual && listed().any(|(shape, in_advance)| in_advance && same(&shape))
    }

    fn source(&self, conversions: bool) -> String {
        let checks = format!("Shape::Tables::BYTES == {}", self.table_bytes());
        let header = self.number.header().unwrap_or("block/bailey_block.cuh");
        kernel_source(
            self,
            [header, &self.type_name(), "run", &checks],
            conversions,
        )
    }

    fn purpose(&self) -> Option<String> {
        let BlockShape {
            first,
            last,
            kilobytes,
            ..
        } = self;
        let number = self.number.description();
        let place = if self.strided {
            "strided"
        } else {
            "contiguous"
        };
        Some(format!(
            "lines of {first} x {last} points, {number}, {place}, {kilobytes} KB"
        ))
    }

    fn choice(&self) -> String {
        let [first, last] = self.units;
        let (lines, groups) = (self.lines, self.groups);
        format!("{lines} lines, {first} and {last} units, {groups} groups")
    }

    fn for_few(&self) -> Option<Box<dyn KernelShape>> {
        // Warps that have no registers for their digits spill them, and the compiler waits for every product of theirs.
        let has_registers = |shape: &BlockShape| {
            let most = match shape.number {
                Number::Single => Some(MOST_WARPS),
                number => most_warps_for(number, [shape.first, shape.last], shape.units),
            };
            most.is_some_and(|most| shape.groups * shape.warps() <= most)
        };
        let fitting = self.fitting().into_iter();
        let mut one_unit = fitting.filter(|shape| shape.units[0] == 1 && has_registers(shape));
        // The cheapest of those with the fewest lines.
        let first = one_unit.next()?;
        let fewest = one_unit.fold(first, |best, shape| match shape.lines < best.lines {
            true => shape,
            false => best,
        });
        Some(Box::new(fewest))
    }

    fn candidates(&self) -> Vec<Box<dyn KernelShape>> {
        candidates_of(*self, self.fitting())
    }
}

/// Kernels for one purpose that are worth measuring.
pub(crate) const MOST_CANDIDATES: usize = 10;

/// What is taken now, then the most promising of those that fit.
pub(crate) fn candidates_of<S: KernelShape + PartialEq + 'static>(
    usual: S,
    fitting: Vec<S>,
) -> Vec<Box<dyn KernelShape>> {
    let mut found = vec![usual];
    for shape in fitting {
        if found.len() < MOST_CANDIDATES && !found.contains(&shape) {
            found.push(shape);
        }
    }
    let boxed = |shape| Box::new(shape) as Box<dyn KernelShape>;
    found.into_iter().map(boxed).collect()
}

/// The source of a kernel: its header, the type of its shape, the function that it runs, and what else must be true of the shape.
pub(crate) fn kernel_source(
    shape: &dyn KernelShape,
    [header, type_name, function, checks]: [&str; 4],
    conversions: bool,
) -> String {
    format!(
        "#include \"{header}\"\n\
         typedef {type_name} Shape;\n\
         static_assert(Shape::THREADS == {threads} && Shape::SHARED == {shared} && {checks}, \"the host has the same\");\n\
         KERNEL(Shape::THREADS, 1) {name}(PARAMETERS {parameters} a) {{ bailey::{function}<Shape, Shape::Number::Mma, {conversions}>(a); }}\n",
        threads = shape.threads(),
        shared = shape.shared_bytes(),
        name = shape.name(conversions),
        parameters = shape.parameters(),
    )
}

/// Whether four warps together were measured to be faster for lines of such steps.
pub fn is_faster_by_warpgroups([first, last]: [usize; 2]) -> bool {
    let mut listed = listed_for_warpgroups();
    listed.any(|shape| (shape.first, shape.last) == (first, last))
}

/// The list's shapes, and whether they are compiled in advance.
pub fn listed() -> impl Iterator<Item = (BlockShape, bool)> {
    entries(&["BAILEY", "BAILEY_IN_ADVANCE"])
        .map(|(keyword, shape)| (shape, keyword == "BAILEY_IN_ADVANCE"))
}

/// Those for warps that multiply together.
fn listed_for_warpgroups() -> impl Iterator<Item = BlockShape> {
    entries(&["BAILEY_WGMMA"]).map(|(_, shape)| shape.of(Number::DoubleWgmma))
}

/// The list's shapes under such keywords.
fn entries(keywords: &[&'static str]) -> impl Iterator<Item = (&'static str, BlockShape)> {
    LENGTHS.lines().filter_map(move |line| {
        let (keyword, rest) = line.split_once('(')?;
        let keyword = *keywords.iter().find(|known| **known == keyword)?;
        let fields = rest.trim_end().strip_suffix(')')?;
        let fields: Vec<&str> = fields.split(',').map(str::trim).collect();
        let number = |field: usize| fields.get(field)?.parse().ok();
        let shape = BlockShape {
            first: number(0)?,
            last: number(1)?,
            lines: number(2)?,
            units: [number(3)?, number(4)?],
            strided: *fields.get(5)? == "true",
            groups: number(6)?,
            number: Number::Double,
            kilobytes: SHARED_KILOBYTES[0],
        };
        Some((keyword, shape))
    })
}

/// Names of all kernels in [`IMAGE`] that are launched.
pub fn compiled_in_advance() -> Vec<String> {
    let shapes = listed().filter(|(_, in_advance)| *in_advance);
    let shapes =
        shapes.flat_map(|(shape, _)| SHARED_KILOBYTES.map(|kilobytes| shape.within(kilobytes)));
    let mut names: Vec<String> = shapes.flatten().map(|shape| shape.name(true)).collect();
    names.sort();
    names.dedup();
    names
}

/// Parameters for steps that are not in the list, by what work a point is expected to take (`bench/lengths.py` has the same rule).
fn by_rule(number: Number, steps: [usize; 2], strided: bool) -> Option<BlockShape> {
    let mut best: Option<(f64, BlockShape)> = None;
    let is_safe = |shape: &BlockShape| {
        let most = most_warps_for(number, steps, shape.units);
        most.is_some_and(|most| shape.groups * shape.warps() <= most)
    };
    let ranked = ranked(number, steps, strided).into_iter();
    for (cost, shape) in ranked.filter(|(_, shape)| is_safe(shape)) {
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, shape));
        }
    }
    best.map(|(_, shape)| shape)
}

/// All parameters, with that work; among them some with more warps than have registers for all that they work on.
fn ranked(number: Number, [first, last]: [usize; 2], strided: bool) -> Vec<(f64, BlockShape)> {
    let lines: &[usize] = match strided {
        true if last > 4 => &[2, 4, 8],
        true => &[2, 4, 8, 16, 32],
        false => &[1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64],
    };
    // Products of warpgroups that spill wait for each other: none are tried with fewer registers than they need.
    let limit = match number {
        Number::DoubleWgmma if quads(first.max(last)) > 3 => MOST_WARPS,
        Number::DoubleWgmma => 20,
        _ => 24,
    };
    let mut found = Vec::new();
    for units in [[1, 1], [1, 2], [2, 1], [2, 2]] {
        let Some(most_warps) = most_warps_for(number, [first, last], units) else {
            continue;
        };
        let levels = [most_warps, most_warps + 4, most_warps + 8];
        let pairs = lines
            .iter()
            .flat_map(|lines| levels.map(|most| (*lines, most)));
        for (lines, most_warps) in pairs.filter(|(_, most)| *most <= limit) {
            let shape = BlockShape {
                first,
                last,
                lines,
                units,
                strided,
                groups: 1,
                // Those of f32 are those of f64 with more groups.
                number: match number {
                    Number::Single => Number::Double,
                    _ => number,
                },
                kilobytes: SHARED_KILOBYTES[0],
            };
            let warps = shape.warps();
            let taken = shape.common_bytes() + shape.table_bytes();
            let room = (SHARED_KILOBYTES[0] << 10).saturating_sub(taken);
            let groups = (most_warps / warps).min(room / shape.group_bytes()).min(15);
            if groups == 0 {
                continue;
            }
            let together = number.together();
            let warp_counts = [warps, groups, most_warps];
            let mut cost = cost_of(together, [first, last], lines, units, warp_counts);
            cost *= match (strided, lines) {
                (true, 2) => 1.1,
                (true, 4) => 1.03,
                _ => 1.0,
            };
            cost *= if lines * first * last < 256 { 1.1 } else { 1.0 };
            let shape = BlockShape { groups, ..shape };
            if !found.iter().any(|(_, other)| *other == shape) {
                found.push((cost, shape));
            }
        }
    }
    found
}

/// Warps of a block, with 128 registers a thread.
pub(crate) const MOST_WARPS: usize = 16;

/// Warps of a block that have registers for the digits of so many units; none where not even a few have.
pub(crate) fn most_warps(steps: [usize; 2], units: [usize; 2]) -> Option<usize> {
    most_warps_for(Number::Double, steps, units)
}

/// The same for any numbers; those of f32 are the callers' own.
pub(crate) fn most_warps_for(
    number: Number,
    [first, last]: [usize; 2],
    units: [usize; 2],
) -> Option<usize> {
    let product = is_matrix(last);
    // Digits of two units fit the registers where steps have up to 32 points.
    let too_many = |step: usize, units: usize| units == 2 && quads(step) > 4;
    let load = (units[0] * quads(first)).max(if product { units[1] * quads(last) } else { 0 });
    let fits = !too_many(first, units[0])
        && !too_many(last, units[1])
        && load <= 8
        && (product || units[1] == 1);
    let warps = match number {
        Number::Double | Number::DoubleFewer { .. } | Number::Single if load > 5 => 12,
        Number::Double | Number::DoubleFewer { .. } | Number::Single => MOST_WARPS,
        // Sums of all diagonals of one unit.
        Number::DoubleWgmma if units != [1, 1] => return None,
        Number::DoubleWgmma => MOST_WARPS,
        Number::DoubleFp8 | Number::DoubleF16 => {
            let last = (if product { last } else { 1 }, units[1]);
            return most_warps_of_wide(number, [(first, units[0]), last]).filter(|_| fits);
        }
    };
    fits.then_some(warps)
}

/// The same for digits in fp8 and in f16, which take twice as many, and more where the compiler makes products in fp8 of those in f16: for steps of so many
/// points and units.
pub(crate) fn most_warps_of_wide<const STEPS: usize>(
    number: Number,
    steps: [(usize, usize); STEPS],
) -> Option<usize> {
    // Two units of steps of up to 16 points.
    let fits = |&(n, units): &(usize, usize)| units == 1 || quads(n) <= 2;
    let load = steps.iter().map(|(n, units)| units * quads(*n)).max()?;
    let warps = match (number, load) {
        (_, 0..=1) | (Number::DoubleF16, 2) => MOST_WARPS,
        (_, 2) | (Number::DoubleF16, 3..=5) => 12,
        _ => 8,
    };
    steps.iter().all(fits).then_some(warps)
}

/// What a point of a step is expected to take.
pub(crate) fn work(n: usize, units: usize) -> f64 {
    let fragments = if units == 1 { 1.35 } else { 1.0 };
    fragments * 8.0 * (tiles(n) * (pieces(n)[0] + pieces(n)[1])) as f64 / n as f64 + 16.0
}

/// What a point is expected to take: products of padded matrices and what else there is, over what is not padding, with warps that multiply together, those of a
/// group, groups and most warps of a block.
pub(crate) fn cost_of(
    together: usize,
    [first, last]: [usize; 2],
    lines: usize,
    units: [usize; 2],
    [warps, groups, most_warps]: [usize; 3],
) -> f64 {
    let columns = (lines * last) as f64 / (8 * units[0] * warps) as f64;
    let mut cost = work(first, units[0]) / columns;
    let mut balance = 1.0;
    if is_matrix(last) {
        let (all, unit_columns) = (lines * first, 8 * units[1] * together);
        let warps = warps / together;
        let turns = |a: usize, b: usize| a.div_ceil(b) as f64;
        cost += work(last, units[1]) * turns(all, unit_columns) * unit_columns as f64 / all as f64;
        balance = all as f64 / ((unit_columns * warps) as f64 * turns(all, unit_columns * warps));
    } else if last == 4 {
        cost += 6.0;
    }
    // More than that are a promise, not a measurement.
    let used = (groups * warps) as f64 / most_warps.min(MOST_WARPS) as f64;
    cost *= (1.0 + 0.6 * (1.0 - used).max(-0.1)) * (1.0 + 0.15 * (1.0 - balance));
    cost *= match groups {
        1 => 1.25,
        2 => 1.08,
        _ => 1.0,
    };
    cost * match most_warps {
        8 => 1.2,
        12 => 1.05,
        _ => 1.0,
    }
}

#[cfg(test)]
#[path = "bailey_tests.rs"]
mod tests;
