#!/usr/bin/env python3
"""Predicted times on GPUs that were not at hand, for the template's kernels and for cuFFT: the tables of docs/gpu-template.md, "Other GPUs".

    ./predict.py            the tables, from what was counted
    ./predict.py --count    compiles the kernels for every GPU, with the shared memory that its blocks have, and counts anew (minutes)

ozfft: the largest of memory, tensor operations, and instructions at the share of issue slots that the kernel reached on an H200, on `mma.sync` there, too. That share is that
of the H200 (the shorter time), or goes with the warps that a multiprocessor has beside its shared memory (the longer one); for an A100, which has half of the
lanes for multiplications, additions and moves in FP32 and integers, instructions of that pipe count twice in the longer time. cuFFT: its time on the H200 by the rate of memory, or FP64 at its full rate, which flatters it, whichever is longer. Rates are published
ones, without sparsity; memory at the share of its rate that cuFFT has on the H200.

Instructions of a point: of kernels of one block they are counted loop by loop (instructions.py) and scaled as the profiler found at 1024 points; of passes those that the
profiler found on the H200 (of 1000 points, whose loops are not told apart: what was counted once), times the ratio of what the machine code has, with the same shape, for the GPU and for the H200. Real lines are taken to have half of the
instructions of complex ones there. NOPs that a compiler puts in count.
"""

import argparse
import csv
import re
import sys
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import instructions

HERE = Path(__file__).resolve().parent
COUNTED = HERE / "records" / "2026-11-18-counted.csv"
POINTS = 1 << 27
EXECUTED = 215 / 250  # of instructions counted in machine code, at 1024 points (Nsight Compute, H200)
MEMORY_SHARE = POINTS * 32 / 1.045e-3 / 4.8e12  # of the published rate: that of cuFFT at 1024 points on the H200, 0.86

BLOCK, PASSES, LONG, REAL = ("bailey_block.cuh", "run"), ("bailey_passes.cuh", "run_passes"), ("bailey_long.cuh", "run_pass"), ("bailey_real.cuh", "run_real")
SINGLE = ("bailey_single.cuh", "run")
# A kernel's header and function, and its shape where blocks have 227 KB of shared memory and 99 (tests/compiled.rs holds that they are those of plans).
KERNELS = {
    "64": (BLOCK, "bailey::BlockShape<16, 4, 8, 2, 1, false, 8>", "bailey::BlockShape<16, 4, 8, 2, 1, false, 7>"),
    "360": (BLOCK, "bailey::BlockShape<20, 18, 3, 2, 1, false, 3>", "bailey::BlockShape<20, 18, 3, 2, 1, false, 3>"),
    "1000": (BLOCK, "bailey::BlockShape<40, 25, 1, 1, 1, false, 4>", "bailey::BlockShape<40, 25, 1, 1, 1, false, 1>"),
    "1024": (BLOCK, "bailey::BlockShape<32, 32, 1, 2, 2, false, 6>", "bailey::BlockShape<32, 32, 1, 2, 2, false, 2>"),
    "512": (BLOCK, "bailey::BlockShape<32, 16, 1, 1, 2, false, 8>", "bailey::BlockShape<32, 16, 1, 1, 2, false, 7>"),
    "512 strided": (BLOCK, "bailey::BlockShape<32, 16, 4, 2, 2, true, 3>", "bailey::BlockShape<32, 16, 4, 2, 2, true, 1>"),
    "1024 strided": (BLOCK, "bailey::BlockShape<32, 32, 2, 2, 1, true, 3>", "bailey::BlockShape<32, 32, 2, 2, 1, true, 1>"),
    "f32 1024": (SINGLE, "bailey::BlockShape<32, 32, 1, 2, 2, false, 8, false, bailey::Single>", "bailey::BlockShape<32, 32, 1, 2, 2, false, 4, false, bailey::Single>"),
    "2048": (
        PASSES,
        "bailey::PassesShape<16, 4, 32, 1, 1, 8, 1, 1, 1, false, 3, bailey::Double, bailey::Ends::COMPLEX>",
        "bailey::PassesShape<16, 4, 32, 1, 1, 16, 1, 1, 1, false, 1, bailey::Double, bailey::Ends::COMPLEX>",
    ),
    "opening": (LONG, "bailey::LongShape<16, 16, 4, 2, 2, bailey::Pass::OPENING, 4, bailey::Double>", "bailey::LongShape<16, 16, 4, 2, 2, bailey::Pass::OPENING, 4, bailey::Double>"),
    "closing": (LONG, "bailey::LongShape<16, 16, 4, 2, 2, bailey::Pass::CLOSING, 4, bailey::Double>", "bailey::LongShape<16, 16, 4, 2, 2, bailey::Pass::CLOSING, 4, bailey::Double>"),
    "r2c 1024": (
        REAL,
        "bailey::RealShape<32, 32, 1, 2, 2, false, bailey::Half::OUTPUT, 6, bailey::Double>",
        "bailey::RealShape<32, 32, 1, 1, 1, false, bailey::Half::OUTPUT, 2, bailey::Double>",
    ),
}
# What machine code is counted for: the shapes of 99 KB on the H200, too, as what others are compared with.
TARGETS = [("sm_80", 99), ("sm_89", 99), ("sm_90", 99), ("sm_120", 99), ("sm_90", 227), ("sm_100", 227), ("sm_103", 227)]


def shape_of(kernel, kilobytes):
    return KERNELS[kernel][1 if kilobytes == 227 else 2]


def counted(job, check, count, tools):
    """Registers, threads, shared bytes, spills and instructions of one kernel on one target."""
    kernel, target, kilobytes = job
    header, function = KERNELS[kernel][0]
    shape = shape_of(kernel, kilobytes)
    parameters = "PassArguments" if "Long" in shape else "TunedArguments"
    source = (
        f'#include "{header}"\ntypedef {shape} Shape;\n__device__ int threads[Shape::THREADS], shared_bytes[Shape::SHARED];\n'
        f"KERNEL(Shape::THREADS, 1) counted(PARAMETERS {parameters} a) {{ bailey::{function}<Shape, Shape::Number::Mma, true>(a); }}\n"
    )
    with tempfile.TemporaryDirectory() as temporary:
        cubin = Path(temporary, "counted.cubin")
        Path(temporary, "counted.cu").write_text(source)
        check.run([tools / "nvcc", "-std=c++17", "-O3", "-cubin", f"-arch={target}", f"-I{HERE.parent / 'cuda'}", "-o", cubin, Path(temporary, "counted.cu")])
        found = check.kernels_in("counted", target, cubin, tools)[0]
        code, _ = check.run([tools / "nvdisasm", "-c", cubin])
        symbols, _ = check.run([tools / "cuobjdump", "-elf", cubin])
    # The third number of a symbol is its size: both arrays are there for that.
    fields = [line.split() for line in symbols.splitlines()]
    sizes = {line[6]: int(line[2], 16) for line in fields if len(line) == 7 and line[6] in ("threads", "shared_bytes")}
    opcodes, _ = count.instructions_and_loops(code)
    body = instructions.end_of_body(code) or len(opcodes)
    of_point, fma = "", sum(count.pipe_of(opcode) == "fma" for opcode in opcodes[:body]) / body
    if function == "run":
        numbers = [int(field) for field in re.findall(r"\d+", shape)[:5]]
        pipes, expected = instructions.counts_of(code, numbers, "Single" if "Single" in shape else "Double", count)
        if abs(pipes.get("tensor", 0) - expected) <= 0.1 * expected:
            of_point, fma = sum(pipes.values()), pipes["fma"] / sum(pipes.values())
            of_point = f"{of_point:.1f}"
    return [kernel, target, kilobytes, found.registers, found.spills, sizes["threads"] // 4, sizes["shared_bytes"] // 4, body, of_point, f"{fma:.3f}"]


COLUMNS = ["kernel", "target", "kilobytes", "registers", "spills", "threads", "shared", "instructions", "of_a_point", "fma"]


def count_all():
    check, count = instructions.loaded("check"), instructions.loaded("count")
    tools = Path(check.run([HERE.parent / "toolchain"])[0].strip())
    jobs = [(kernel, target, kilobytes) for kernel in KERNELS for target, kilobytes in TARGETS]
    with ThreadPoolExecutor(check.COMPILER_PROCESSES) as pool:
        rows = list(pool.map(lambda job: counted(job, check, count, tools), jobs))
    with COUNTED.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


# GPUs: what machine code runs there, with how much shared memory a block; warp instructions a second, memory in bytes a second, operations a second of FP64, FP32 and int8 (multiply and
# add are two); of a multiprocessor, kilobytes of shared memory and threads.
Gpu = namedtuple("Gpu", "target kilobytes issue memory fp64 fp32 int8 multiprocessor threads")
GPUS = {
    "H200": Gpu("sm_90", 227, 132 * 4 * 1.98e9, 4.8e12, 34e12, 67e12, 1979e12, 228, 2048),
    "A100 80 GB": Gpu("sm_80", 99, 108 * 4 * 1.41e9, 2.039e12, 9.7e12, 19.5e12, 624e12, 164, 2048),
    "L40S": Gpu("sm_89", 99, 142 * 4 * 2.52e9, 0.864e12, 1.43e12, 91.6e12, 733e12, 100, 1536),
    "RTX 4090": Gpu("sm_89", 99, 128 * 4 * 2.52e9, 1.008e12, 1.29e12, 82.6e12, 660e12, 100, 1536),
    "RTX 5090": Gpu("sm_120", 99, 170 * 4 * 2.407e9, 1.792e12, 1.64e12, 105e12, 838e12, 100, 1536),
    "B200": Gpu("sm_100", 227, 37.5e12 / 32, 7.7e12, 37.5e12, 75e12, 4500e12, 228, 2048),
    "B300": Gpu("sm_103", 227, 37.5e12 / 32, 7.7e12, 1.25e12, 75e12, 150e12, 228, 2048),
}

# Of a kernel on the H200: milliseconds for 2^27 points on mma.sync, where measured; instructions of a point as the profiler found them, where they are not counted;
# tensor instructions of a point (as lanes count them: 32 for one product); bytes of a point, read and written. Records 2026-11-18-h200-mma-sync.txt and -shapes.json, strided ones
# bench/records/2026-11-17-h200.txt; instructions: docs/gpu-template.md.
Kernel = namedtuple("Kernel", "milliseconds instructions tensor bytes")
ON_H200 = {
    "64": Kernel(1.525, None, 6, 32),
    "360": Kernel(3.558, None, 38, 32),
    "1000": Kernel(3.680, EXECUTED * 401, 40, 32),
    "1024": Kernel(2.335, None, 24, 32),
    "512": Kernel(2.027, None, 18, 32),
    "512 strided": Kernel(2.234, None, 18, 32),
    "1024 strided": Kernel(3.658, None, 24, 32),
    "f32 1024": Kernel(None, None, 12, 16),
    "2048": Kernel(3.640, 433, 18, 32),
    "opening": Kernel(5.617 * 346 / 614, 346, 12, 32),
    "closing": Kernel(5.617 * 268 / 614, 268, 12, 32),
    "r2c 1024": Kernel(None, None, 12, 16),
}
# What is predicted: kernels, each with how often 2^27 points go through it; bytes of a point that are read besides (the largest number between axes);
# cuFFT's milliseconds on the H200, and its operations (5 n log2 n), of which real lines have half.
Work = namedtuple("Work", "kernels besides cufft operations")
CUBE_OF_512 = [("512", 1), ("512 strided", 2)]
WORKS = {
    "64": Work([("64", 1)], 0, 1.054, 5 * 6),
    "360": Work([("360", 1)], 0, 1.177, 5 * 8.49),
    "1000": Work([("1000", 1)], 0, 1.044, 5 * 9.97),
    "1024": Work([("1024", 1)], 0, 1.045, 5 * 10),
    "2048": Work([("2048", 1)], 0, 1.040, 5 * 11),
    "65536": Work([("opening", 1), ("closing", 1)], 0, 2.131, 5 * 16),
    "512³": Work(CUBE_OF_512, 16, 3.325, 5 * 27),
    "1024³": Work([("1024", 8), ("1024 strided", 16)], 8 * 16, 31.6, 8 * 5 * 30),
    "r2c 1024": Work([("r2c 1024", 1)], 0, 0.540, 5 * 5),
    "f32 1024": Work([("f32 1024", 1)], 0, 0.521, 5 * 10),
}


class Counted:
    """The file of counts, and what follows from it."""

    def __init__(self):
        with COUNTED.open() as file:
            self.rows = {(row["kernel"], row["target"], int(row["kilobytes"])): row for row in csv.DictReader(file)}

    def row(self, kernel, gpu):
        return self.rows[kernel, gpu.target, gpu.kilobytes]

    def instructions(self, kernel, gpu):
        """Of a point, executed."""
        of_point = self.row(kernel, gpu)["of_a_point"]
        if of_point:
            return EXECUTED * float(of_point)
        if kernel == "r2c 1024":
            there = self.instructions("1024", GPUS["H200"]) / 2
        else:
            there = ON_H200[kernel].instructions or self.instructions(kernel, GPUS["H200"])
        same_shape = self.rows[kernel, "sm_90", gpu.kilobytes]
        return there * int(self.row(kernel, gpu)["instructions"]) / int(same_shape["instructions"])

    def warps(self, kernel, gpu):
        """Of a multiprocessor: as many blocks as shared memory, registers and threads allow."""
        row = self.row(kernel, gpu)
        threads, registers = int(row["threads"]), -(-int(row["registers"]) // 8) * 8
        blocks = min(gpu.multiprocessor * 1024 // (int(row["shared"]) + 1024), 65536 // (registers * threads), gpu.threads // threads)
        return max(blocks, 1) * threads // 32

    def share(self, kernel):
        """Of issue slots on the H200; where the kernel was not measured on mma.sync, that at 1024 points."""
        if not ON_H200[kernel].milliseconds:
            return self.share("1024")
        gpu = GPUS["H200"]
        return POINTS * self.instructions(kernel, gpu) / 32 / gpu.issue / (1e-3 * ON_H200[kernel].milliseconds)

    def times(self, kernel, gpu, share=None):
        """The shorter and the longer time of 2^27 points, in milliseconds, and what binds the shorter one."""
        here = ON_H200[kernel]
        memory = POINTS * here.bytes / (MEMORY_SHARE * gpu.memory)
        tensor = POINTS * here.tensor / 32 * 2 * 16 * 8 * 32 / gpu.int8
        issue = POINTS * self.instructions(kernel, gpu) / 32 / gpu.issue / (share or self.share(kernel))
        longer = issue * max(1.0, self.warps(kernel, GPUS["H200"]) / self.warps(kernel, gpu))
        if gpu.target == "sm_80":
            longer *= 1 + float(self.row(kernel, gpu)["fma"])
        binds = max((memory, "memory"), (tensor, "tensor"), (issue, "instructions"))[1]
        return 1e3 * max(memory, tensor, issue), 1e3 * max(memory, tensor, longer), binds

    def ozfft(self, work, gpu, share=None):
        besides = 1e3 * POINTS * work.besides / (MEMORY_SHARE * gpu.memory)
        of_kernels = [[often * time for time in self.times(kernel, gpu, share)[:2]] for kernel, often in work.kernels]
        return [besides + sum(times) for times in zip(*of_kernels)]


def cufft(name, gpu):
    work = WORKS[name]
    rate = gpu.fp32 if name.startswith("f32") else gpu.fp64
    return max(work.cufft * GPUS["H200"].memory / gpu.memory, 1e3 * POINTS * work.operations / rate)


def number(value):
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 3 else f"{value:.2f}"


def span(shorter, longer):
    return number(shorter) if number(shorter) == number(longer) else f"{number(shorter)} to {number(longer)}"


def row(cells):
    print("| " + " | ".join(cells) + " |")


def tables():
    counted = Counted()
    heading, line = ["", *WORKS], ["---"] * (1 + len(WORKS))
    print("Over cuFFT's time:\n")
    row(heading)
    row(line)
    for name, gpu in GPUS.items():
        cells = []
        for work in WORKS:
            shorter, longer = counted.ozfft(WORKS[work], gpu)
            reference = cufft(work, gpu)
            cells.append(span(shorter / reference, longer / reference))
        row([name, *cells])
    print("\nMilliseconds, ozfft; cuFFT:\n")
    row(heading)
    row(line)
    for name, gpu in GPUS.items():
        row([name, *(f"{span(*counted.ozfft(WORKS[work], gpu))}; {number(cufft(work, gpu))}" for work in WORKS)])
    measured = lambda work: all(ON_H200[kernel].milliseconds for kernel, _ in work.kernels)
    share = counted.share("1024")
    row(["H200, by the share at 1024 points alone", *(number(counted.ozfft(work, GPUS["H200"], share)[0]) if measured(work) else "" for work in WORKS.values())])
    print(f"\nInstructions of a point, registers, spilling instructions, warps of a multiprocessor (share of issue slots at 1024 points {share:.2f}):\n")
    row(["", *KERNELS])
    row(["---"] * (1 + len(KERNELS)))
    for name, gpu in GPUS.items():
        if name in ("RTX 4090",):
            continue
        cells = []
        for kernel in KERNELS:
            found = counted.row(kernel, gpu)
            cells.append(f"{counted.instructions(kernel, gpu):.0f}, {found['registers']}, {found['spills']}, {counted.warps(kernel, gpu)}")
        row([name, *cells])
    print("\nWhat binds the shorter time:\n")
    for name, gpu in GPUS.items():
        print(f"{name}: " + ", ".join(f"{kernel} {counted.times(kernel, gpu)[2]}" for kernel in KERNELS))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true", help="compile and count anew")
    if parser.parse_args().count:
        count_all()
    tables()
    return 0


if __name__ == "__main__":
    sys.exit(main())
