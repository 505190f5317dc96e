#!/usr/bin/env python3
"""Instructions of a point in the template's kernels for one block, counted in machine code loop by loop; registers and spills. No GPU is needed.

    ./instructions.py [--target sm_90a] [--integers-only] SHAPE ...      SHAPE: N1,N2,LINES,UNITS1,UNITS2,STRIDED,GROUPS[,Number]

    ./instructions.py 32,32,1,2,2,false,6 32,32,1,1,1,false,3,DoubleFp8 32,32,1,1,1,false,3,DoubleF16 '32,32,1,2,2,false,6,DoubleFewer<5>'

Warps of a group go through a panel together: what is outside of the steps' loops once, a tile of outputs as often as there are tiles, the last step's
columns as often as their units come round. Branches that are hardly ever taken are counted with the rest: of the int8 kernel for 1024 points 250 are counted, and the profiler finds 215.
"""

import argparse
import math
import re
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

HERE = Path(__file__).resolve().parent
CUDA = HERE.parent / "cuda"
TENSOR = re.compile(r"(IMMA|HMMA|QMMA|OMMA|IGMMA)\b")


def loaded(name):
    """The functions of a program beside this folder."""
    loader = SourceFileLoader(name, str(HERE.parent / name))
    module = module_from_spec(spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def is_matrix(n):
    return n not in (1, 2, 4)


def tiles(n):
    return math.ceil(math.ceil(n / 2) / 8) if is_matrix(n) else 0


def end_of_body(code):
    """Instructions before the kernel's end: behind it is what was moved out of the way, from which branches lead back."""
    place = 0
    for line in code.splitlines():
        if found := re.match(r"^\s*/\*[0-9a-f]{4,}\*/\s+(@!?U?P\w+\s+)?([A-Z]\S*)", line):
            if found[2].rstrip(";") == "EXIT" and not found[1]:
                return place
            place += 1
    return place


# Tensor instructions of eight slots, and of a rest of four, for eight outputs.
PRODUCTS = {"DoubleFp8": (48, 32), "DoubleF16": (20, 12), "DoubleWgmma": (3, 2)}


def products(n, number):
    """Tensor instructions of eight columns of a step."""
    slots = math.ceil(n / 2)
    eights, fours = slots // 8 + (slots % 8 > 4), 1 <= slots % 8 <= 4
    fewer = re.match(r"DoubleFewer<(\d)(?:;(\d))?>", number)
    digits = int(fewer[1]) if fewer else {"Double": 8, "Single": 5}.get(number)
    diagonals = int(fewer[2] or fewer[1]) if fewer else digits
    # Diagonals beyond the fourth meet both halves of a word.
    of_eight, of_four = (diagonals + max(diagonals - 4, 0), diagonals) if digits else PRODUCTS[number]
    return 2 * tiles(n) * (of_eight * eights + of_four * fours)


def warps_of(lines, n2, units1, number):
    """Warps of a group."""
    warps = math.ceil(lines * n2 / (8 * units1))
    return math.ceil(warps / 4) * 4 if number == "DoubleWgmma" else warps


def counts_of(code, shape, number, count):
    """Instructions, by pipe, that a lane executes for a point; and tensor instructions of the source."""
    n1, n2, lines, units1, units2 = shape
    opcodes, loops = count.instructions_and_loops(code)
    body = end_of_body(code)
    loops = sorted({loop for loop in loops if loop[1] < body})
    inside = lambda inner, outer: inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]
    multiplies = lambda loop: any(TENSOR.match(opcode) for opcode in opcodes[loop[0] : loop[1] + 1])
    with_tensor = sorted(loop for loop in loops if multiplies(loop))
    panel = max(with_tensor, key=lambda loop: loop[1] - loop[0])
    # Of several branches to its beginning the last ends it.
    with_tensor = [loop for loop in with_tensor if loop == panel or loop[0] != panel[0]]
    warps = warps_of(lines, n2, units1, number)
    units = math.ceil(lines * n1 / (8 * units2)) if is_matrix(n2) else 0
    if number == "DoubleWgmma":
        units = math.ceil(units / 4) * 4
    rows = units / warps if units else 1
    # Outside of the first step's tiles there is nothing but panels; a step of one tile may have no loop over tiles.
    turns = {}
    first = min((loop for loop in with_tensor if loop != panel), default=panel)
    for loop in with_tensor:
        around = [other for other in with_tensor if inside(loop, other) and other != panel]
        within = [other for other in with_tensor if inside(other, loop)]
        if loop == panel:
            continue
        if around:
            turns[loop] = tiles(n2)
        elif within or (is_matrix(n2) and (tiles(n1) == 1 or loop != first)):
            # Where the last step's columns come round once, its only loop is that over tiles.
            turns[loop] = tiles(n2) if rows <= 1 and not within else rows
        else:
            turns[loop] = tiles(n1)
    pipes = {}
    for place in range(panel[0], panel[1] + 1):
        weight = 1.0
        for loop, often in turns.items():
            weight *= often if loop[0] <= place <= loop[1] else 1
        pipe = "tensor" if TENSOR.match(opcodes[place]) else count.pipe_of(opcodes[place])
        pipes[pipe] = pipes.get(pipe, 0) + weight * 32 * warps / (lines * n1 * n2)
    expected = products(n1, number) * warps * units1
    if is_matrix(n2):
        expected += products(n2, number) * units * units2
    return pipes, 32 * expected / (lines * n1 * n2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--integers-only", action="store_true")
    parser.add_argument("shapes", nargs="+")
    arguments = parser.parse_args()
    check, count = loaded("check"), loaded("count")
    tools = Path(check.run([HERE.parent / "toolchain"])[0].strip())
    conversions = "false" if arguments.integers_only else "true"
    print("| shape | target | registers | threads | spills | all | by pipe |")
    for text in arguments.shapes:
        fields = text.split(",")
        number = fields[7] if len(fields) > 7 else "Double"
        # Of a number with two parameters these are apart by a semicolon here.
        shape = f"bailey::BlockShape<{', '.join(fields[:7])}, {fields[5]}, bailey::{number.replace(';', ', ')}>"
        source = (
            f'#include "block/bailey_fewer.cuh"\n#include "block/bailey_single.cuh"\n#include "block/bailey_fp8.cuh"\n#include "block/bailey_f16.cuh"\n#include "block/bailey_wgmma.cuh"\ntypedef {shape} Shape;\n'
            f"KERNEL(Shape::THREADS, 1) counted(PARAMETERS TunedArguments a) {{ bailey::run<Shape, Shape::Number::Mma, {conversions}>(a); }}\n"
        )
        with tempfile.TemporaryDirectory() as temporary:
            cubin = Path(temporary, "counted.cubin")
            Path(temporary, "counted.cu").write_text(source)
            check.run([tools / "nvcc", "-std=c++17", "-O3", "-cubin", f"-arch={arguments.target}", f"-I{CUDA}", "-o", cubin, Path(temporary, "counted.cu")])
            kernel = check.kernels_in("counted", arguments.target, cubin, tools)[0]
            code, _ = check.run([tools / "nvdisasm", "-c", cubin])
        pipes, expected = counts_of(code, [int(field) for field in fields[:5]], number, count)
        whole = sum(pipes.values())
        by_pipe = ", ".join(f"{pipe} {value:.0f}" for pipe, value in sorted(pipes.items(), key=lambda entry: -entry[1]))
        warps = warps_of(int(fields[2]), int(fields[1]), int(fields[3]), number) * max(int(fields[6]), 1)
        # Where fp8 is made of f16, there are two instructions for one.
        if all(abs(pipes.get("tensor", 0) - times * expected) > 0.1 * times * expected for times in (1, 2)):
            by_pipe += f"; not counted rightly: {expected:.0f} products of a point"
        print(f"| {text} | {kernel.target} | {kernel.registers} | {32 * warps} | {kernel.spills} | {whole:.0f} | {by_pipe} |")


if __name__ == "__main__":
    main()
