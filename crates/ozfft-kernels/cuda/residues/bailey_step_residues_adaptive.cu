// target: sm_90a
// The kernels for lines of doubles of any kind with as few moduli as the words of eight columns need.
#include "residues/residue_kinds.cuh"

#define ADAPTIVE_RESIDUE_KERNEL(NAME, FIRST, LAST) \
    KERNEL(THREADS, 2) NAME(PARAMETERS AdaptedTask adapted) { run_residues_of_kind<AdaptiveWords, FIRST, LAST>(adapted.task, adapted.adaptation); }

ADAPTIVE_RESIDUE_KERNEL(residues_adaptive, 32, 32)
ADAPTIVE_RESIDUE_KERNEL(residues_512_adaptive, 32, 16)
ADAPTIVE_RESIDUE_KERNEL(residues_256_adaptive, 16, 16)
