// target: sm_90a
// The kernels of bailey_step_residues.cu that put integers together in words of 32 bits, for lines of other kinds: complex, real or Hermitian, of 1024, 512 and 256
// points; of doubles, and of singles with the moduli that words of 40 bits need.
#include "residues/residue_kinds.cuh"

#define RESIDUE_KERNEL_OF_KIND(NAME, NUMBERS, FIRST, LAST) \
    KERNEL(THREADS, 2) NAME(PARAMETERS Tasks tasks) { run_residues_of_kind<NUMBERS, FIRST, LAST>(tasks.passes[0]); }

RESIDUE_KERNEL_OF_KIND(residues_real, DoubleWords, 32, 32)
RESIDUE_KERNEL_OF_KIND(residues_512_real, DoubleWords, 32, 16)
RESIDUE_KERNEL_OF_KIND(residues_256_real, DoubleWords, 16, 16)

RESIDUE_KERNEL_OF_KIND(residues_single, SingleWords, 32, 32)
RESIDUE_KERNEL_OF_KIND(residues_512_single, SingleWords, 32, 16)
RESIDUE_KERNEL_OF_KIND(residues_256_single, SingleWords, 16, 16)
