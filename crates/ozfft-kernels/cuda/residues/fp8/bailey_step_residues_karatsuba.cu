// target: sm_90a
// Blocks of two steps of 32 points with products by residues, as in bailey_step_residues_fp8.cu, with the moduli of up to 1089 and the three products a
// modulus of Ozaki's scheme II in fp8: 13 moduli in the first step, 14 in the second. The same integers, the same bits.
//
// A square's three products are two instructions, one of them of twice the columns.
// expect: residues_karatsuba_kulisch32 12 QGMMA\.64x64x32
// expect: residues_karatsuba_kulisch32 57 QGMMA\.64x32x32
#include "residues/fp8/residue_karatsuba.cuh"

FP8_RESIDUE_KERNEL(residues_karatsuba_kulisch32, NONE, karatsuba::Weights)
// What its stages cost: their results are void.
FP8_RESIDUE_KERNEL(residues_karatsuba_without_reconstruction, RECONSTRUCTION, karatsuba::Weights)
FP8_RESIDUE_KERNEL(residues_karatsuba_without_products, PRODUCTS, karatsuba::Weights)
FP8_RESIDUE_KERNEL(residues_karatsuba_without_decomposition, DECOMPOSITION, karatsuba::Weights)
