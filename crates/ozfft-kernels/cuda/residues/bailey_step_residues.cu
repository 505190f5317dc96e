// target: sm_90a
// Blocks of two steps of 32 points, forwards and, by conjugation, backwards, with products by residues: Ozaki's scheme II in
// one kernel. Words become residues modulo 15 (first step) or 16 numbers (second step), each of which is multiplied by
// the tensor unit for bytes, and integers are put together again; everything else is as in truncated_block.cu, and
// the integers are those of general_block.cu with exact products.
//
// No floating-point arithmetic but on integers that a float holds exactly, unless a kernel is named after its floats; names that
// end in `_conversions` have doubles.
#include "residues/residue_lines.cuh"

#define RESIDUE_KERNEL(NAME, WITHOUT, ...) \
    KERNEL(THREADS, 2) NAME(PARAMETERS Tasks tasks) { run_residues<__VA_ARGS__, 32, 32, Stage::WITHOUT>(tasks.passes[0]); }

// Exact ways.
RESIDUE_KERNEL(residues_kulisch32, NONE, ExactSlices<Kulisch32>)
RESIDUE_KERNEL(residues_kulisch16, NONE, ExactSlices<Kulisch16>)
RESIDUE_KERNEL(residues_kulisch8, NONE, ExactSlices<Kulisch8>)
RESIDUE_KERNEL(residues_garner, NONE, Garner<garner::AtOnce>)
RESIDUE_KERNEL(residues_garner_one_by_one, NONE, Garner<garner::OneByOne>)
// Bounded ways.
RESIDUE_KERNEL(residues_double_conversions, NONE, RoundedSlices<DoubleSum>)
RESIDUE_KERNEL(residues_sum2_conversions, NONE, RoundedSlices<Sum2>)
RESIDUE_KERNEL(residues_double_single, NONE, RoundedSlices<DoubleSingle>)
RESIDUE_KERNEL(residues_single_kahan, NONE, RoundedSlices<SingleKahan>)
RESIDUE_KERNEL(residues_bernstein_double_conversions, NONE, BernsteinDouble)
// What the stages of the first cost: their results are void.
RESIDUE_KERNEL(residues_without_reconstruction, RECONSTRUCTION, ExactSlices<Kulisch32>)
RESIDUE_KERNEL(residues_without_products, PRODUCTS, ExactSlices<Kulisch32>)
RESIDUE_KERNEL(residues_without_decomposition, DECOMPOSITION, ExactSlices<Kulisch32>)
