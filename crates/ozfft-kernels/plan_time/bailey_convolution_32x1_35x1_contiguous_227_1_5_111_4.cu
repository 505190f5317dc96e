#include "passes/bailey_convolution.cuh"
typedef bailey::PassesShape<32, 1, 35, 1, 1, 5, 1, 1, 1, false, 4, bailey::Double, bailey::Ends::CONVOLUTION> Shape;
static_assert(Shape::THREADS == 640 && Shape::SHARED == 164288 && Shape::TABLE_BYTES == 75184, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_convolution_32x1_35x1_contiguous_227_1_5_111_4(PARAMETERS PassArguments a) { bailey::run_convolution<Shape, Shape::Number::Mma, false>(a); }
