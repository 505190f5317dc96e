#include "block/bailey_f16.cuh"
typedef bailey::BlockShape<40, 25, 1, 1, 1, false, 3, false, bailey::DoubleF16> Shape;
static_assert(Shape::THREADS == 384 && Shape::SHARED == 108544 && Shape::Tables::BYTES == 58512, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_f16_40x25_contiguous_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
