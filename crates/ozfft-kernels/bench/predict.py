#!/usr/bin/env python3
"""Predicted times of batched lines of 1024 points in f64 on GPUs that were not at hand, for the template's kernel and for cuFFT.

    ./predict.py

ozfft: the largest of memory, tensor operations, and instructions at the share of issue slots that the kernel reached on an H200. cuFFT: the
largest of memory and FP64 at its full rate, which flatters it. Rates are published ones, without sparsity; memory at nine tenths of its
rate, as on the H200.
"""

POINTS = 1 << 27
BYTES = 32  # of a point, read and written
INSTRUCTIONS = 215  # of a point (Nsight Compute, H200)
TENSOR_OPERATIONS = 2 * 0.375 * 16 * 8 * 32 * 2  # of a point: instructions m16n8k32 in both steps
FLOATING_POINT = 5 * 10  # of a point: 5 n log2 n
MEASURED = 2.25e-3  # seconds on the H200: gives the share of issue slots

# Warp instructions a second, memory in bytes a second, FP64, int8 tensor operations (multiply and add are two).
GPUS = {
    "H200 (check)": (132 * 4 * 1.98e9, 4.8e12, 34e12, 1979e12),
    "A100 80 GB": (108 * 4 * 1.41e9, 2.039e12, 9.7e12, 624e12),
    "RTX 4090": (128 * 4 * 2.52e9, 1.008e12, 1.29e12, 660e12),
    "RTX 5090": (170 * 4 * 2.407e9, 1.792e12, 1.64e12, None),
    "B200": (37.5e12 / 32, 7.7e12, 37.5e12, 4500e12),
    "B300": (37.5e12 / 32, 7.7e12, 1.25e12, 150e12),
}


def main():
    share = POINTS * INSTRUCTIONS / 32 / GPUS["H200 (check)"][0] / MEASURED
    print(f"share of issue slots on the H200: {share:.2f}")
    print("| GPU | memory | instructions | tensor | **ozfft** | FP64 of cuFFT | **cuFFT** | ratio |")
    for name, (issue, memory, fp64, int8) in GPUS.items():
        at_memory = POINTS * BYTES / (0.9 * memory)
        at_issue = POINTS * INSTRUCTIONS / 32 / (share * issue)
        at_tensor = POINTS * TENSOR_OPERATIONS / int8 if int8 else 0
        at_fp64 = POINTS * FLOATING_POINT / fp64
        ozfft, cufft = max(at_memory, at_issue, at_tensor), max(at_memory, at_fp64)
        times = [at_memory, at_issue, at_tensor, ozfft, at_fp64, cufft]
        print(f"| {name} | " + " | ".join(f"{1e3 * time:.2f}" for time in times) + f" | {ozfft / cufft:.2f} |")


if __name__ == "__main__":
    main()
