#!/usr/bin/env python3
"""Candidates of the template's parameters for some transforms of two passes, written as lists for `passes.cu`.

    ./passes.py FOLDER
"""

import sys
from itertools import product
from pathlib import Path

LENGTHS = {
    2048: (16, 4, 32, 1),
    4096: (16, 4, 16, 4),
    1536: (32, 1, 12, 4),
    1600: (40, 1, 40, 1),
    2000: (40, 1, 10, 5),
    3000: (15, 4, 10, 5),
    2500: (10, 5, 10, 5),
    1280: (40, 1, 32, 1),
}


def quads(n):
    return -(-((n + 1) // 2) // 4)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for n, (a1, a2, b1, b2) in LENGTHS.items():
        lines = []
        for strided, most, warps, units in product((0, 1), (12, 16), (3, 4, 6, 8), product((1, 2, 4), (1, 2), (1, 2))):
            ua, ub, ul = units
            if ul == 2 and b2 in (1, 4) or warps not in ((3, 4, 6) if most == 12 else (4, 8)) or strided and warps < 6:
                continue
            load = max(ua * quads(a1), ub * quads(b1), ul * quads(b2) if b2 > 4 else 0)
            if load > 8 or most == 16 and load > 5 or 8 * ua * warps < a2 or 8 * ub * warps < b2:
                continue
            groups, transforms = most // warps, 2 if strided else 1
            lines.append(f"CANDIDATE({len(lines)}, {a1}, {a2}, {b1}, {b2}, {transforms}, {warps}, {ua}, {ub}, {ul}, {'true' if strided else 'false'}, {groups})\n")
        (folder / f"{n}.inc").write_text("".join(lines))
        print(n, len(lines))


if __name__ == "__main__":
    main()
