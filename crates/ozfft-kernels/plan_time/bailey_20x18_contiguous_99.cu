#include "block/bailey_block.cuh"
typedef bailey::BlockShape<20, 18, 3, 2, 1, false, 3> Shape;
static_assert(Shape::THREADS == 384 && Shape::SHARED == 95632 && Shape::Tables::BYTES == 43488, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_20x18_contiguous_99(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
