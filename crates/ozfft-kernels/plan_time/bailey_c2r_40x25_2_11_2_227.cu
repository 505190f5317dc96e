#include "block/bailey_real.cuh"
typedef bailey::RealShape<40, 25, 2, 1, 1, false, bailey::Half::INPUT, 2, bailey::Double> Shape;
static_assert(Shape::THREADS == 448 && Shape::SHARED == 150944 && Shape::Tables::BYTES == 78992, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_c2r_40x25_2_11_2_227(PARAMETERS TunedArguments a) { bailey::run_real<Shape, Shape::Number::Mma, false>(a); }
