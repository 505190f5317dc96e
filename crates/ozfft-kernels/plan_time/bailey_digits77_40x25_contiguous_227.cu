#include "block/bailey_fewer.cuh"
typedef bailey::BlockShape<40, 25, 1, 1, 1, false, 4, false, bailey::DoubleFewer<7, 7>> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 133920 && Shape::Tables::BYTES == 67216, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_digits77_40x25_contiguous_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
