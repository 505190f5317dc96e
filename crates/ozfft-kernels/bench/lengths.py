#!/usr/bin/env python3
"""Candidates of the template's parameters for every length of one block: how many lines, units and groups; written as sources
for `bench`, of which the best become the list of kernels.

    ./lengths.py FOLDER COUNT [LENGTH ...]
"""

import sys
from pathlib import Path

from data import cheapest

SHARED = 227 * 1024


def smooth(n):
    for p in (2, 3, 5, 7):
        while n % p == 0:
            n //= p
    return n == 1


def steps_of(n):
    steps = cheapest(n, 64, 1)[1]
    return (*steps, 1)[:2] if len(steps) <= 2 else None


def is_matrix(n):
    return n not in (1, 2, 4)


def quads(n):
    return -(-((n + 1) // 2) // 4)


def tiles(n):
    return -(-((n + 1) // 2) // 8)


def pieces(n):
    slots = (n + 1) // 2
    eights, fours = slots // 8 + (slots % 8 > 4), 1 <= slots % 8 <= 4
    return 3 * eights + 2 * fours


def table_bytes(n1, n2):
    matrices = sum(2 * tiles(n) * pieces(n) * 1024 for n in (n1, n2) if is_matrix(n))
    last = tiles(n2) if is_matrix(n2) else 0
    return matrices + 128 * tiles(n1) + 128 + 192 * last + 16 * (n1 // 2 + 1) * (n2 // 2 + 1)


def group_bytes(n1, n2, lines, strided):
    pitch = n2 + (1 - n2) % 2 if strided else n2 + (2 - n2) % 4
    line = n1 * pitch + (4 - n1 * pitch) % 8 if strided else n1 * pitch
    return (0 if n2 == 1 else 16 * line * lines) + 32 * lines


def up(a, b):
    return -(-a // b)


def candidates(n1, n2, strided):
    """(score, lines, units of both steps, groups), the best first."""
    found = []
    last = is_matrix(n2)
    choices = (2, 4, 8, 16, 32) if strided else (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64)
    for units1 in (1, 2):
        for units2 in (1, 2) if last else (1,):
            load = max(units1 * quads(n1), units2 * quads(n2) if last else 0)
            if load > 8 or (units1 == 2 and quads(n1) > 4) or (units2 == 2 and quads(n2) > 4):
                continue
            most_warps = 12 if load > 5 else 16
            for lines in choices:
                if strided and lines > 8 and n2 > 4:
                    continue
                warps = up(lines * n2, 8 * units1)
                if warps > most_warps:
                    continue
                groups = most_warps // warps
                bytes_ = group_bytes(n1, n2, lines, strided)
                groups = min(groups, (SHARED - table_bytes(n1, n2) - 16) // bytes_, 15)
                if groups < 1:
                    continue
                # Work a point in both steps: products of the padded matrices and what else there is, over what is not padding.
                full1 = lines * n2 / (8 * units1 * warps)
                rounds = up(lines * n1, 8 * units2 * warps) if last else 1
                full2 = lines * n1 / (8 * units2 * up(lines * n1, 8 * units2)) if last else 1
                balance = lines * n1 / (8 * units2 * warps * rounds) if last else 1
                work = lambda n, units: (1 + 0.35 * (units == 1)) * 4 * 2 * tiles(n) * pieces(n) / n + 16
                cost = work(n1, units1) / full1 + (work(n2, units2) / full2 if last else 6 if n2 == 4 else 0)
                used = groups * warps / most_warps
                cost *= (1 + 0.6 * (1 - used)) * (1 + 0.15 * (1 - balance)) * (1.25 if groups == 1 else 1.08 if groups == 2 else 1)
                cost *= 1.05 if most_warps == 12 else 1
                if strided:
                    cost *= {2: 1.1, 4: 1.03}.get(lines, 1)
                if lines * n1 * n2 < 256:
                    cost *= 1.1
                found.append((cost, lines, units1, units2, groups))
    return sorted(found)


def main():
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    wanted = list(map(int, sys.argv[3:])) or [n for n in range(16, 1025) if smooth(n)]
    folder.mkdir(parents=True, exist_ok=True)
    for n in wanted:
        if (steps := steps_of(n)) is None:
            continue
        lines = []
        for strided in (False, True):
            taken = []
            for candidate in candidates(*steps, strided):
                # Not the same twice but for lines.
                if all(candidate[2:4] != other[2:4] or count > 3 for other in taken):
                    taken.append(candidate)
                if len(taken) == count:
                    break
            for _, number, units1, units2, groups in taken:
                kind = "true" if strided else "false"
                lines.append(f"VARIANT({steps[0]}, {steps[1]}, {number}, {units1}, {units2}, {kind}, {groups}, true, 1)\n")
        (folder / f"length_{n}.cu").write_text('#include "variant.cuh"\n' + "".join(lines))


if __name__ == "__main__":
    main()
