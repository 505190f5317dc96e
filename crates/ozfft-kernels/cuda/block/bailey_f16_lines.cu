// A kernel of the template with products in f16, as plans have them compiled, for its machine code to be looked at: no plan launches this one.
// target: fatbin
// tuned
// early
#include "block/bailey_f16.cuh"

typedef bailey::BlockShape<16, 1, 16, 1, 1, false, 1, false, bailey::DoubleF16> Shape;
KERNEL(Shape::THREADS, 1) bailey_f16_16x1(PARAMETERS TunedArguments args) { bailey::run<Shape, Shape::Number::Mma, false>(args); }

// expect: bailey_f16_16x1 40 HMMA.16816.F32
