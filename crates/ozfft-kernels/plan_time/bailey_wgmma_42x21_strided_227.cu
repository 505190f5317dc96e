#include "block/bailey_wgmma.cuh"
typedef bailey::BlockShape<42, 21, 2, 1, 1, true, 2, true, bailey::DoubleWgmma> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 137376 && Shape::Tables::BYTES == 80544, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_wgmma_42x21_strided_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
