#include "block/bailey_wgmma.cuh"
typedef bailey::BlockShape<35, 21, 1, 1, 1, false, 4, false, bailey::DoubleWgmma> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 123232 && Shape::Tables::BYTES == 73696, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_wgmma_35x21_contiguous_1_11_4_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
