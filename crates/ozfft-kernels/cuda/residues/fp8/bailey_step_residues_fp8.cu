// target: sm_90a
// Blocks of two steps of 32 points with products by residues, as in bailey_step_residues.cu, on the tensor unit for 8-bit floating-point numbers:
// the same moduli, the same integers, the same bits.
//
// expect: residues_fp8_kulisch32 62 QGMMA\.64x64x32
// expect: residues_fp8_in_halves 62 QGMMA\.64x64x32
// expect: residues_fp8_bands 62 QGMMA\.64x64x32
// expect: residues_fp8_bands 8 QGMMA\.64x40x32
#include "residues/fp8/residue_fp8_nibbles.cuh"

// Products in fp8, weights in int8.
FP8_RESIDUE_KERNEL(residues_fp8_kulisch32, NONE, Int8Weights<Kulisch32>)
// The same with two warpgroups to a line, to see what more threads are worth.
using InHalves = Int8Weights<Kulisch32, 2>;
FP8_RESIDUE_KERNEL(residues_fp8_in_halves, NONE, InHalves)
// Both in fp8.
FP8_RESIDUE_KERNEL(residues_fp8_bands, NONE, Fp8Weights)
// What the stages of the second cost: their results are void.
FP8_RESIDUE_KERNEL(residues_fp8_without_reconstruction, RECONSTRUCTION, Fp8Weights)
FP8_RESIDUE_KERNEL(residues_fp8_without_products, PRODUCTS, Fp8Weights)
FP8_RESIDUE_KERNEL(residues_fp8_without_decomposition, DECOMPOSITION, Fp8Weights)
