#include "passes/bailey_long.cuh"
typedef bailey::LongShape<12, 12, 4, 2, 2, bailey::Pass::PRODUCT_CLOSING, 5, bailey::Double> Shape;
static_assert(Shape::THREADS == 480 && Shape::SHARED == 78096 && Shape::Tables::BYTES == 13520, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_12x12_product_closing_4_22_5_227(PARAMETERS PassArguments a) { bailey::run_pass<Shape, Shape::Number::Mma, false>(a); }
