// A kernel of the template whose warps multiply together, as plans have them compiled, for its machine code to be looked at: no plan launches this one.
// target: sm_90a
// tuned
// early
#include "block/bailey_wgmma.cuh"

typedef bailey::BlockShape<32, 32, 1, 1, 1, false, 3, false, bailey::DoubleWgmma> Shape;
KERNEL(Shape::THREADS, 1) bailey_wgmma_32x32(PARAMETERS TunedArguments args) { bailey::run<Shape, Shape::Number::Mma, false>(args); }

// expect: bailey_wgmma_32x32 48 ^IGMMA
