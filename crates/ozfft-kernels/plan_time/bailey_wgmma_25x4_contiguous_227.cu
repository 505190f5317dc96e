#include "block/bailey_wgmma.cuh"
typedef bailey::BlockShape<25, 4, 8, 1, 1, false, 4, false, bailey::DoubleWgmma> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 103536 && Shape::Tables::BYTES == 25584, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_wgmma_25x4_contiguous_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
