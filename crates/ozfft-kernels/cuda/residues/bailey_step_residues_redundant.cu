// target: sm_90a
// The kernels of bailey_step_residues.cu and bailey_step_residues_short.cu that put integers together in words of 32 bits, with two redundant moduli: bad residues are
// found, and sums put right.
#include "residues/residue_lines.cuh"

#define REDUNDANT_RESIDUE_KERNEL(NAME, FIRST, LAST) \
    KERNEL(THREADS, 2) NAME(PARAMETERS WatchedTask watched) { run_residues<RedundantSlices, FIRST, LAST, Stage::NONE>(watched.task, watched.watch); }

REDUNDANT_RESIDUE_KERNEL(residues_redundant, 32, 32)
REDUNDANT_RESIDUE_KERNEL(residues_512_redundant, 32, 16)
REDUNDANT_RESIDUE_KERNEL(residues_256_redundant, 16, 16)
