#include "passes/bailey_long.cuh"
typedef bailey::LongShape<16, 8, 8, 2, 2, bailey::Pass::OPENING, 4, bailey::Double> Shape;
static_assert(Shape::THREADS == 512 && Shape::SHARED == 101664 && Shape::Tables::BYTES == 11408, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_16x8_opening_8_22_4_227(PARAMETERS PassArguments a) { bailey::run_pass<Shape, Shape::Number::Mma, false>(a); }
