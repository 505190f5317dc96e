#!/usr/bin/env python3
"""Predicted times of batched lines of 1024 points in f64 on GPUs that were not at hand, by the unit that multiplies (int8, fp8, f16), from the instructions of the H200; ./predict.py has other transforms.

    ./predict_units.py

ozfft: the largest of memory, tensor operations, and instructions at the share of issue slots that the int8 kernel reached on an H200. cuFFT: the
largest of memory and FP64 at its full rate, which flatters it. Rates are published ones, without sparsity; memory at nine tenths of its
rate, as on the H200. Products in fp8 by `mma.sync` are native on compute capability 8.9 and 12.0; on 9.0, 10.0 and 10.3 the compiler makes them of f16, at whose rate they are counted here,
times the share of the published rate that `mma.sync` has on the H200 in int8 (full rates there need other instructions). Products in f16 itself have an instruction everywhere, on
GeForce at half of the rate that is published for sums in f16.
"""

POINTS = 1 << 27
BYTES = 32  # of a point, read and written
INSTRUCTIONS = 215  # of a point (Nsight Compute, H200)
SHARE_EXECUTED = 215 / 250  # of instructions that are counted in machine code
FP8_INSTRUCTIONS = SHARE_EXECUTED * 562  # of a point, counted by ./instructions.py: native
FP8_OF_F16_INSTRUCTIONS = SHARE_EXECUTED * 1150  # and made of f16
F16_INSTRUCTIONS = SHARE_EXECUTED * 295  # in f16 itself
TENSOR_OPERATIONS = 2 * 0.375 * 16 * 8 * 32 * 2  # of a point: instructions m16n8k32 in both steps
FP8_TENSOR_OPERATIONS = 4 * TENSOR_OPERATIONS
F16_TENSOR_OPERATIONS = 2 * 0.625 * 16 * 8 * 16 * 2  # instructions m16n8k16
FLOATING_POINT = 5 * 10  # of a point: 5 n log2 n
MEASURED = 2.25e-3  # seconds on the H200: gives the share of issue slots
SHARE_OF_RATE = 0.65  # of f16 by mma.sync on the H200, B200 and B300

# Warp instructions a second, memory in bytes a second, FP64, int8 tensor operations (multiply and add are two), instructions and tensor operations of fp8 by
# mma.sync, and tensor operations of f16.
GPUS = {
    "H200 (check)": (132 * 4 * 1.98e9, 4.8e12, 34e12, 1979e12, FP8_OF_F16_INSTRUCTIONS, SHARE_OF_RATE * 989e12, SHARE_OF_RATE * 989e12),
    "A100 80 GB": (108 * 4 * 1.41e9, 2.039e12, 9.7e12, 624e12, None, None, 312e12),
    "L40S": (142 * 4 * 2.52e9, 0.864e12, 1.43e12, 733e12, FP8_INSTRUCTIONS, 733e12, 362e12),
    "RTX 4090": (128 * 4 * 2.52e9, 1.008e12, 1.29e12, 660e12, FP8_INSTRUCTIONS, 330e12, 165e12),
    "RTX 5090": (170 * 4 * 2.407e9, 1.792e12, 1.64e12, None, FP8_INSTRUCTIONS, 773e12, 210e12),
    "B200": (37.5e12 / 32, 7.7e12, 37.5e12, 4500e12, FP8_OF_F16_INSTRUCTIONS, SHARE_OF_RATE * 2250e12, SHARE_OF_RATE * 2250e12),
    "B300": (37.5e12 / 32, 7.7e12, 1.25e12, 150e12, FP8_OF_F16_INSTRUCTIONS, SHARE_OF_RATE * 2250e12, SHARE_OF_RATE * 2250e12),
}


def times(instructions, operations, issue, tensor):
    """Seconds at the rates of instructions and of tensor operations."""
    return POINTS * instructions / 32 / issue, POINTS * operations / tensor if tensor else 0


def main():
    share = POINTS * INSTRUCTIONS / 32 / GPUS["H200 (check)"][0] / MEASURED
    print(f"share of issue slots on the H200: {share:.2f}")
    ways = ["int8", "fp8", "f16"]
    print("| GPU | memory | FP64 of cuFFT | **cuFFT** | " + " | ".join(f"{way}: instructions | tensor | **ozfft** | ratio" for way in ways) + " |")
    for name, (issue, memory, fp64, int8, fp8_instructions, fp8, f16) in GPUS.items():
        at_memory, at_fp64 = POINTS * BYTES / (0.9 * memory), POINTS * FLOATING_POINT / fp64
        cufft = max(at_memory, at_fp64)
        cells = [1e3 * at_memory, 1e3 * at_fp64, 1e3 * cufft]
        for instructions, operations, tensor in (
            (INSTRUCTIONS, TENSOR_OPERATIONS, int8),
            (fp8_instructions, FP8_TENSOR_OPERATIONS, fp8),
            (F16_INSTRUCTIONS, F16_TENSOR_OPERATIONS, f16),
        ):
            if not instructions:
                cells += [None] * 4
                continue
            at_issue, at_tensor = times(instructions, operations, share * issue, tensor)
            ozfft = max(at_memory, at_issue, at_tensor)
            cells += [1e3 * at_issue, 1e3 * at_tensor, 1e3 * ozfft, ozfft / cufft]
        print(f"| {name} | " + " | ".join("" if cell is None else f"{cell:.2f}" for cell in cells) + " |")


if __name__ == "__main__":
    main()
