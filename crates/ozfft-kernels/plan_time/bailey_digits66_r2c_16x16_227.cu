#include "block/bailey_fewer.cuh"
#include "block/bailey_real.cuh"
typedef bailey::RealShape<16, 16, 2, 2, 2, false, bailey::Half::OUTPUT, 8, bailey::DoubleFewer<6, 6>> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 93408 && Shape::Tables::BYTES == 9936, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_digits66_r2c_16x16_227(PARAMETERS TunedArguments a) { bailey::run_real<Shape, Shape::Number::Mma, false>(a); }
