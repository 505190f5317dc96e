#!/usr/bin/env python3
"""Instructions of a point in the template's kernels for one block, counted in machine code loop by loop; registers and spills. No GPU is needed.

    ./instructions.py [--target sm_90] [--integers-only] SHAPE ...      SHAPE: N1,N2,LINES,UNITS1,UNITS2,STRIDED,GROUPS[,Number]

    ./instructions.py 32,32,1,2,2,false,6 32,32,1,1,1,false,3,DoubleFp8

Warps of a group go through a panel together: what is outside of the steps' loops once, a tile of outputs as often as there are tiles, the last step's
columns as often as their units come round. Branches that are hardly ever taken are counted with the rest: the profiler has found 0.95 of such a count.
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
TENSOR = re.compile(r"(IMMA|HMMA|QMMA|OMMA)\b")


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


def counts_of(code, shape, count):
    """Instructions, by pipe, that a lane executes for a point."""
    n1, n2, lines, units1, units2 = shape
    opcodes, loops = count.instructions_and_loops(code)
    inside = lambda inner, outer: inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]
    multiplies = lambda loop: any(TENSOR.match(opcode) for opcode in opcodes[loop[0] : loop[1] + 1])
    with_tensor = [loop for loop in loops if multiplies(loop)]
    panel = max(with_tensor, key=lambda loop: loop[1] - loop[0])
    warps = math.ceil(lines * n2 / (8 * units1))
    turns = {}
    # A step of one tile may have no loop over tiles: then its instructions are counted with what is around it.
    innermost = [loop for loop in with_tensor if loop != panel and not any(inside(other, loop) for other in with_tensor)]
    around = lambda loop: [other for other in with_tensor if inside(loop, other) and other != panel]
    rows = lines * n1 / (8 * units2 * warps)
    for loop in innermost:
        if around(loop):
            turns[loop] = tiles(n2)
            turns[around(loop)[0]] = rows
        elif tiles(n1) > 1 and (tiles(n2) == 0 or loop == min(innermost)):
            turns[loop] = tiles(n1)
        else:
            turns[loop] = rows
    pipes = {}
    for place in range(panel[0], panel[1] + 1):
        weight = 1.0
        for loop, often in turns.items():
            weight *= often if loop[0] <= place <= loop[1] else 1
        pipe = "tensor" if TENSOR.match(opcodes[place]) else count.pipe_of(opcodes[place])
        pipes[pipe] = pipes.get(pipe, 0) + weight * 32 * warps / (lines * n1 * n2)
    return pipes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--integers-only", action="store_true")
    parser.add_argument("shapes", nargs="+")
    arguments = parser.parse_args()
    check, count = loaded("check"), loaded("count")
    tools = Path(check.run([HERE.parent / "toolchain"])[0].strip())
    conversions = "false" if arguments.integers_only else "true"
    print("| shape | target | registers | threads | spills | all | times 0.95 | by pipe |")
    for text in arguments.shapes:
        fields = text.split(",")
        number = fields[7] if len(fields) > 7 else "Double"
        shape = f"bailey::BlockShape<{', '.join(fields[:7])}, {fields[5]}, bailey::{number}>"
        source = (
            f'#include "bailey_fp8.cuh"\ntypedef {shape} Shape;\n'
            f"KERNEL(Shape::THREADS, 1) counted(PARAMETERS TunedArguments a) {{ bailey::run<Shape, Shape::Number::Mma, {conversions}>(a); }}\n"
        )
        with tempfile.TemporaryDirectory() as temporary:
            cubin = Path(temporary, "counted.cubin")
            Path(temporary, "counted.cu").write_text(source)
            check.run([tools / "nvcc", "-std=c++17", "-O3", "-cubin", f"-arch={arguments.target}", f"-I{CUDA}", "-o", cubin, Path(temporary, "counted.cu")])
            kernel = check.kernels_in("counted", arguments.target, cubin, tools)[0]
            code, _ = check.run([tools / "nvdisasm", "-c", cubin])
        pipes = counts_of(code, [int(field) for field in fields[:5]], count)
        whole = sum(pipes.values())
        by_pipe = ", ".join(f"{pipe} {value:.0f}" for pipe, value in sorted(pipes.items(), key=lambda entry: -entry[1]))
        warps = math.ceil(int(fields[2]) * int(fields[1]) / (8 * int(fields[3]))) * max(int(fields[6]), 1)
        print(f"| {text} | {kernel.target} | {kernel.registers} | {32 * warps} | {kernel.spills} | {whole:.0f} | {0.95 * whole:.0f} | {by_pipe} |")


if __name__ == "__main__":
    main()
