#!/usr/bin/env python3
"""Predicted times of batched lines of 1024 points in f64 on GPUs that were not at hand, for the template's kernels and for cuFFT.

    ./predict.py

ozfft: the largest of memory, tensor operations, and instructions at the share of issue slots that the int8 kernel reached on an H200. cuFFT: the
largest of memory and FP64 at its full rate, which flatters it. Rates are published ones, without sparsity; memory at nine tenths of its
rate, as on the H200. Products in fp8 by `mma.sync` are native on compute capability 8.9 and 12.0; on 9.0, 10.0 and 10.3 the compiler makes them of f16, at whose rate they are counted here,
times the share of the published rate that `mma.sync` has on the H200 in int8 (full rates there need other instructions).
"""

POINTS = 1 << 27
BYTES = 32  # of a point, read and written
INSTRUCTIONS = 215  # of a point (Nsight Compute, H200)
SHARE_EXECUTED = 215 / 250  # of instructions that are counted in machine code
FP8_INSTRUCTIONS = SHARE_EXECUTED * 562  # of a point, counted by ./instructions.py: native
F16_INSTRUCTIONS = SHARE_EXECUTED * 1150  # and made of f16
TENSOR_OPERATIONS = 2 * 0.375 * 16 * 8 * 32 * 2  # of a point: instructions m16n8k32 in both steps
FP8_TENSOR_OPERATIONS = 4 * TENSOR_OPERATIONS
FLOATING_POINT = 5 * 10  # of a point: 5 n log2 n
MEASURED = 2.25e-3  # seconds on the H200: gives the share of issue slots
SHARE_OF_RATE = 0.65  # of f16 by mma.sync on the H200, B200 and B300

# Warp instructions a second, memory in bytes a second, FP64, int8 tensor operations (multiply and add are two), and instructions and tensor operations of fp8 by
# mma.sync.
GPUS = {
    "H200 (check)": (132 * 4 * 1.98e9, 4.8e12, 34e12, 1979e12, F16_INSTRUCTIONS, SHARE_OF_RATE * 989e12),
    "A100 80 GB": (108 * 4 * 1.41e9, 2.039e12, 9.7e12, 624e12, None, None),
    "RTX 4090": (128 * 4 * 2.52e9, 1.008e12, 1.29e12, 660e12, FP8_INSTRUCTIONS, 330e12),
    "RTX 5090": (170 * 4 * 2.407e9, 1.792e12, 1.64e12, None, FP8_INSTRUCTIONS, 773e12),
    "B200": (37.5e12 / 32, 7.7e12, 37.5e12, 4500e12, F16_INSTRUCTIONS, SHARE_OF_RATE * 2250e12),
    "B300": (37.5e12 / 32, 7.7e12, 1.25e12, 150e12, F16_INSTRUCTIONS, SHARE_OF_RATE * 2250e12),
}


def main():
    share = POINTS * INSTRUCTIONS / 32 / GPUS["H200 (check)"][0] / MEASURED
    print(f"share of issue slots on the H200: {share:.2f}")
    print("| GPU | memory | instructions | tensor | **ozfft** | in fp8: instructions | tensor | **ozfft** | FP64 of cuFFT | **cuFFT** | ratio | in fp8 |")
    for name, (issue, memory, fp64, int8, fp8_instructions, fp8) in GPUS.items():
        at_memory = POINTS * BYTES / (0.9 * memory)
        at_issue = POINTS * INSTRUCTIONS / 32 / (share * issue)
        at_tensor = POINTS * TENSOR_OPERATIONS / int8 if int8 else 0
        at_fp64 = POINTS * FLOATING_POINT / fp64
        ozfft, cufft = max(at_memory, at_issue, at_tensor), max(at_memory, at_fp64)
        in_fp8 = [None] * 4
        if fp8:
            fp8_issue, fp8_tensor = POINTS * fp8_instructions / 32 / (share * issue), POINTS * FP8_TENSOR_OPERATIONS / fp8
            slowest = max(at_memory, fp8_issue, fp8_tensor)
            in_fp8 = [1e3 * fp8_issue, 1e3 * fp8_tensor, 1e3 * slowest, slowest / cufft]
        milliseconds = [1e3 * time for time in (at_memory, at_issue, at_tensor, ozfft)]
        row = [*milliseconds, *in_fp8[:3], 1e3 * at_fp64, 1e3 * cufft, ozfft / cufft, in_fp8[3]]
        print(f"| {name} | " + " | ".join("" if cell is None else f"{cell:.2f}" for cell in row) + " |")


if __name__ == "__main__":
    main()
