// target: sm_90a
// The kernels of bailey_step_residues.cu for lines of 512 points, in steps of 32 and 16, and of 256 points, in two of 16.
#include "residues/residue_lines.cuh"

#define SHORT_RESIDUE_KERNEL(NAME, FIRST, LAST, ...) \
    KERNEL(THREADS, 2) NAME(PARAMETERS Tasks tasks) { run_residues<__VA_ARGS__, FIRST, LAST, Stage::NONE>(tasks.passes[0]); }

SHORT_RESIDUE_KERNEL(residues_512_kulisch32, 32, 16, ExactSlices<Kulisch32>)
SHORT_RESIDUE_KERNEL(residues_512_kulisch16, 32, 16, ExactSlices<Kulisch16>)
SHORT_RESIDUE_KERNEL(residues_512_kulisch8, 32, 16, ExactSlices<Kulisch8>)
SHORT_RESIDUE_KERNEL(residues_512_garner, 32, 16, Garner<garner::AtOnce>)
SHORT_RESIDUE_KERNEL(residues_512_double_conversions, 32, 16, RoundedSlices<DoubleSum>)

SHORT_RESIDUE_KERNEL(residues_256_kulisch32, 16, 16, ExactSlices<Kulisch32>)
SHORT_RESIDUE_KERNEL(residues_256_kulisch16, 16, 16, ExactSlices<Kulisch16>)
SHORT_RESIDUE_KERNEL(residues_256_kulisch8, 16, 16, ExactSlices<Kulisch8>)
SHORT_RESIDUE_KERNEL(residues_256_garner, 16, 16, Garner<garner::AtOnce>)
SHORT_RESIDUE_KERNEL(residues_256_double_conversions, 16, 16, RoundedSlices<DoubleSum>)
