#include "passes/bailey_passes.cuh"
typedef bailey::PassesShape<16, 4, 32, 1, 1, 8, 1, 1, 1, false, 3, bailey::Double, bailey::Ends::COMPLEX> Shape;
static_assert(Shape::THREADS == 768 && Shape::SHARED == 141952 && Shape::TABLE_BYTES == 32064, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_16x4_32x1_contiguous_227_1_8_111_3(PARAMETERS TunedArguments a) { bailey::run_passes<Shape, Shape::Number::Mma, false>(a); }
