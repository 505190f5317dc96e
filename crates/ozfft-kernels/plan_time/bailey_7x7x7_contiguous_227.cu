#include "block/bailey_three.cuh"
typedef bailey::ThreeShape<7, 7, 7, 2, 2, 2, false, 2> Shape;
static_assert(Shape::THREADS == 448 && Shape::SHARED == 37856 && Shape::Tables::BYTES == 15312, "the host has the same");
KERNEL(Shape::THREADS, 1) bailey_7x7x7_contiguous_227(PARAMETERS TunedArguments a) { bailey::run<Shape, Shape::Number::Mma, false>(a); }
