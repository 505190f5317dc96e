#include "block/bailey_wgmma.cuh"
typedef bailey::BlockShape<35, 25, 5, 1, 1, false, 1, false, bailey::DoubleWgmma> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 151456 && Shape::Tables::BYTES == 78368, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_wgmma_35x25_contiguous_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
