#include "block/bailey_real.cuh"
typedef bailey::RealShape<9, 7, 8, 2, 1, false, bailey::Half::OUTPUT, 4, bailey::Double> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 63248 && Shape::Tables::BYTES == 11008, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_r2c_9x7_227(PARAMETERS TunedArguments a) { bailey::run_real<Shape, Shape::Number::Mma, false>(a); }
