#include "block/bailey_fp8.cuh"
typedef bailey::BlockShape<40, 25, 1, 1, 1, false, 2, false, bailey::DoubleFp8> Shape;
static_assert(Shape::THREADS == 256 && Shape::SHARED == 145120 && Shape::Tables::BYTES == 111760, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_fp8_40x25_contiguous_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
