#include "block/bailey_block.cuh"
typedef bailey::BlockShape<40, 25, 1, 1, 1, false, 4> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 145696 && Shape::Tables::BYTES == 78992, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_40x25_contiguous_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
