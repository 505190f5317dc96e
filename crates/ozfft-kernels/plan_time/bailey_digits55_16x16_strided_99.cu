#include "block/bailey_fewer.cuh"
typedef bailey::BlockShape<16, 16, 4, 2, 1, true, 4, true, bailey::DoubleFewer<5, 5>> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 79072 && Shape::Tables::BYTES == 7888, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_digits55_16x16_strided_99(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
