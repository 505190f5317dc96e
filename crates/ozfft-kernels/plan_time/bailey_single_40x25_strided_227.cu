#include "block/bailey_single.cuh"
typedef bailey::BlockShape<40, 25, 4, 1, 1, true, 1, true, bailey::Single> Shape;
static_assert(Shape::THREADS == 416 && Shape::SHARED == 108064 && Shape::Tables::BYTES == 43664, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_single_40x25_strided_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
