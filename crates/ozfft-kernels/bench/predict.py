#!/usr/bin/env python3
"""Predicted times of batched lines of 1024 points in f64 on GPUs that were not at hand, for the template's kernels and for cuFFT.

    ./predict.py

ozfft: the largest of memory, tensor operations, and instructions at the share of issue slots that the int8 kernel reached on an H200. cuFFT: the
largest of memory and FP64 at its full rate, which flatters it. Rates are published ones, without sparsity; memory at nine tenths of its
rate, as on the H200. `mma.sync` does not reach the published rates of data centre GPUs since Hopper, whose full rate other instructions have: on the H200 it has
0.65 of it in int8; for Blackwell, which nobody has measured here, SHARE_OF_RATE is a guess.
"""

POINTS = 1 << 27
BYTES = 32  # of a point, read and written
INSTRUCTIONS = 215  # of a point (Nsight Compute, H200)
FP8_INSTRUCTIONS = {"H200": None, "others": None}  # counted: ./instructions.py, of compute capability 9.0 and 10.3
TENSOR_OPERATIONS = 2 * 0.375 * 16 * 8 * 32 * 2  # of a point: instructions m16n8k32 in both steps
FP8_TENSOR_OPERATIONS = 4 * TENSOR_OPERATIONS
FLOATING_POINT = 5 * 10  # of a point: 5 n log2 n
MEASURED = 2.25e-3  # seconds on the H200: gives the share of issue slots
SHARE_OF_RATE = 0.25  # of fp8 by mma.sync on B200 and B300

# Warp instructions a second, memory in bytes a second, FP64, int8 and fp8 tensor operations (multiply and add are two). The H200's fp8 is f16.
GPUS = {
    "H200 (check)": (132 * 4 * 1.98e9, 4.8e12, 34e12, 1979e12, 989e12),
    "A100 80 GB": (108 * 4 * 1.41e9, 2.039e12, 9.7e12, 624e12, None),
    "RTX 4090": (128 * 4 * 2.52e9, 1.008e12, 1.29e12, 660e12, 330e12),
    "RTX 5090": (170 * 4 * 2.407e9, 1.792e12, 1.64e12, None, None),
    "B200": (37.5e12 / 32, 7.7e12, 37.5e12, 4500e12, SHARE_OF_RATE * 4500e12),
    "B300": (37.5e12 / 32, 7.7e12, 1.25e12, 150e12, SHARE_OF_RATE * 4500e12),
}


def main():
    share = POINTS * INSTRUCTIONS / 32 / GPUS["H200 (check)"][0] / MEASURED
    print(f"share of issue slots on the H200: {share:.2f}")
    print("| GPU | memory | instructions | tensor | **ozfft** | in fp8: instructions | tensor | **ozfft** | FP64 of cuFFT | **cuFFT** | ratio | in fp8 |")
    for name, (issue, memory, fp64, int8, fp8) in GPUS.items():
        at_memory = POINTS * BYTES / (0.9 * memory)
        at_issue = POINTS * INSTRUCTIONS / 32 / (share * issue)
        at_tensor = POINTS * TENSOR_OPERATIONS / int8 if int8 else 0
        at_fp64 = POINTS * FLOATING_POINT / fp64
        ozfft, cufft = max(at_memory, at_issue, at_tensor), max(at_memory, at_fp64)
        fp8_issue = POINTS * FP8_INSTRUCTIONS["H200" if "H200" in name else "others"] / 32 / (share * issue)
        fp8_tensor = POINTS * FP8_TENSOR_OPERATIONS / fp8 if fp8 else 0
        in_fp8 = max(at_memory, fp8_issue, fp8_tensor)
        times = [at_memory, at_issue, at_tensor, ozfft, fp8_issue, fp8_tensor, in_fp8, at_fp64, cufft]
        ratios = [ozfft / cufft, in_fp8 / cufft]
        # A100s have no such products.
        left_out = (4, 5, 6) if name.startswith("A100") else (5,) if fp8 is None else ()
        cells = ["" if i in left_out else f"{1e3 * time:.2f}" for i, time in enumerate(times)]
        cells += [f"{ratios[0]:.2f}", "" if name.startswith("A100") else f"{ratios[1]:.2f}"]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
