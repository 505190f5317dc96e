//! Sources of kernels for a compiler at run time, and the kernels that are compiled in advance.

use super::{Family, KernelSpec, Number, list};

image!(
    /// The kernels that are compiled in advance (`cuda/block/bailey_lines.cu`), with conversion instructions, for compute capability 8.0 and
    /// later.
    IMAGE,
    "bailey_lines"
);

/// A header as the compiler asks for it, and its text.
macro_rules! headers {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/cuda/", $name)))),*]
    };
}

/// What kernels include.
pub(crate) const HEADERS: [(&str, &str); 35] = headers!(
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
    HEADERS.into_iter().chain([("cstdint", CSTDINT)])
}

impl KernelSpec {
    /// The kernel's source.
    pub fn source(&self, conversions: bool) -> String {
        let traits = self.traits();
        let of_number = self.number.header();
        let headers = match (self.family, of_number) {
            // Headers of numbers include that of blocks.
            (Family::Block(_), Some(_)) => &[],
            _ => traits.headers,
        };
        let headers = of_number.iter().chain(headers);
        let includes: String = headers
            .map(|header| format!("#include \"{header}\"\n"))
            .collect();
        format!(
            "{includes}\
             typedef {type_name} Shape;\n\
             static_assert(Shape::THREADS == {threads} && Shape::SHARED == {shared} && {tables} == {bytes}, \"the host has the same\");\n\
             KERNEL(Shape::THREADS, 1) {name}(PARAMETERS {parameters} a) {{ bailey::{function}<Shape, Shape::Number::Mma, {conversions}>(a); }}\n",
            type_name = self.type_name(),
            threads = self.threads(),
            shared = self.shared_bytes(),
            tables = traits.tables,
            bytes = self.table_bytes(),
            name = self.name(conversions),
            parameters = self.parameters(),
            function = traits.function,
        )
    }

    /// The type of the source's `Shape`.
    pub fn type_name(&self) -> String {
        self.rules().type_name(self)
    }

    /// The type of the kernel's parameters.
    pub fn parameters(&self) -> &'static str {
        self.traits().parameters
    }

    /// Whether the kernel is in [`IMAGE`].
    pub fn is_compiled_in_advance(&self, conversions: bool) -> bool {
        let Family::Block(block) = self.family else {
            return false;
        };
        let is_it = |entry: &list::Listed| {
            entry.in_advance && (entry.steps, entry.strided) == (block.steps, self.strided)
        };
        conversions
            && self.number == Number::Double
            && list::listed().any(|entry| is_it(&entry))
            && self.usual() == Some(*self)
    }
}
