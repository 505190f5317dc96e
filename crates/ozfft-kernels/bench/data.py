#!/usr/bin/env python3
"""Tables, numbers and their transforms for `bench`, made without the library's own tables: roots in 256-bit fixed point, the
layout of `bailey_shape.cuh`, and expected bits from the command line program on the CPU.

    ./data.py FOLDER OZFFT LENGTH ...
    ./data.py --digests LENGTH ...
    ./data.py --digests-in-f16 LENGTH ...

An independent generator of the tables of `executor/cuda/tables/bailey_tables.rs`, whose test has digests of these.
"""

import hashlib
import random
import struct
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

LINES = 19
BITS = 256
ONE = 1 << BITS


def arctangent_of_inverse(x):
    total, power, n, sign = 0, ONE // x, 1, 1
    while power:
        total += sign * (power // n)
        power //= x * x
        n, sign = n + 2, -sign
    return total


PI = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))


@lru_cache(None)
def cosine_sine(p, period):
    """Of p / period turns, times 2^256; exact reduction to an eighth of a turn."""
    p %= period
    if 2 * p > period:
        c, s = cosine_sine(period - p, period)
        return c, -s
    if 4 * p > period:
        c, s = cosine_sine(period - 2 * p, 2 * period)
        return -c, s
    if 8 * p > period:
        c, s = cosine_sine(period - 4 * p, 4 * period)
        return s, c
    x = 2 * PI * p // period
    square = x * x >> BITS
    cosine, sine, term, n = ONE, x, x, 1
    c_term = ONE
    while c_term or term:
        c_term = -(c_term * square >> BITS) // (n * (n + 1))
        term = -(term * square >> BITS) // ((n + 1) * (n + 2))
        cosine, sine, n = cosine + c_term, sine + term, n + 2
        if abs(c_term) < 2 and abs(term) < 2:
            break
    return cosine, sine


def rounded(x, scale):
    """x / 2^256 · scale to the nearest integer."""
    magnitude = (abs(x) * scale + ONE // 2) >> BITS
    return magnitude if x >= 0 else -magnitude


def balanced(x, count):
    """Digits in base 256, the leading one first."""
    digits = []
    for _ in range(count):
        digit = (x + 128) % 256 - 128
        digits.append(digit)
        x = (x - digit) // 256
    assert x == 0
    return digits[::-1]


class Step:
    """A matrix step: digits of its entries by place and slot, as the kernels have them."""

    def __init__(self, n, last):
        self.n, self.plain = n, n % 2 == 1
        half = n // 2
        self.slots = (n + 1) // 2
        self.tiles = -(-self.slots // 8)
        or_half = lambda i: half if i == 0 else i
        if self.plain:
            cosine, sine = (lambda j, k: 2 * j * k), (lambda j, k: 2 * j * k if j and k else None)
        elif last:
            cosine, sine = (lambda j, k: j * (2 * k + 1)), (lambda j, k: or_half(j) * (2 * k + 1))
        else:
            cosine, sine = (lambda j, k: (2 * j + 1) * k), (lambda j, k: (2 * j + 1) * or_half(k))
        scale = 127 * 256**6
        self.matrices = []
        for number, angle in enumerate((cosine, sine)):
            entries = {}
            for k in range(self.slots):
                for j in range(self.slots):
                    p = angle(j, k)
                    value = 0 if p is None else rounded(cosine_sine(p, 2 * n)[number], scale)
                    entries[k, j] = balanced(value, 7)
            self.matrices.append(entries)

    def output(self, place):
        number = place // 8 * 8 + place % 2 * 4 + place % 8 // 2
        if number >= self.slots:
            return None
        return (number + 1) % self.slots if self.plain else number

    def met(self, matrix, half, place, slot, diagonal):
        """The digits that the lower (0) or upper digits of a data word meet on a diagonal."""
        k = self.output(place)
        if k is None or slot >= self.slots:
            return [0] * 4
        digits = self.matrices[matrix][k, slot]
        found = []
        for b in range(4):
            i = diagonal - (7 - 4 * half - b)
            found.append(digits[i] if 0 <= i < 7 else 0)
        return found

    def pieces(self):
        eights = self.slots // 8 + (self.slots % 8 > 4)
        fours = 1 <= self.slots % 8 <= 4
        halves = lambda half: [[(8 * s, half), (8 * s + 4, half)] for s in range(eights)]
        both = [[(8 * eights, 1), (8 * eights, 0)]] if fours else []
        for tile in range(self.tiles):
            for first, operands in ((0, halves(1) + both), (4, halves(1) + halves(0) + both)):
                for operand in operands:
                    yield tile, first, operand

    def fragments(self, matrix):
        image = bytearray()
        for tile, first, operand in self.pieces():
            for pair in (first, first + 2):
                for lane in range(32):
                    for diagonal in (pair, pair + 1):
                        for slot, half in operand:
                            image += struct.pack("4b", *self.met(matrix, half, 8 * tile + lane // 4, slot + lane % 4, diagonal))
        return image

    def fragments_in_f16(self, matrix):
        image = bytearray()
        eights, fours = self.slots // 8 + (self.slots % 8 > 4), 1 <= self.slots % 8 <= 4
        for tile in range(self.tiles):
            for piece in range(eights + fours):
                for pair in range(0, 8, 2):
                    for lane in range(32):
                        place, slot = 8 * tile + lane // 4, 8 * piece + lane % 4
                        for column in (pair, pair + 1):
                            upper = self.met(matrix, 1, place, slot, column)
                            others = self.met(matrix, 1, place, slot + 4, column)[2:] if piece < eights else upper[:2]
                            image += struct.pack("<4e", *upper[2:], *others)
        return image

    def biased_in_f16(self, matrix, place, whole):
        """Every diagonal that is formed begins with the bits of 3/4; the lowest word has a sign, the middle one has none."""
        rows = self.n // 2 if matrix == 1 and self.plain else self.slots
        if place // 8 * 8 + place % 2 * 4 >= rows:
            return 0, 0
        start = struct.unpack("<i", struct.pack("<f", 0.75))[0]
        low = (start // 128 + 2 * start + 512 * start + (1 << 31)) % (1 << 32) - (1 << 31)
        middle = (start + 256 * start) % (1 << 32)
        high = start + 256 * start + (65536 * start if whole else 0)
        digits, top = self.biased(matrix, place, whole)
        return digits + low + (middle << 17) + (high << 33), top + start

    def biased(self, matrix, place, whole):
        d = [
            128 * sum(sum(self.met(matrix, half, place, slot, diagonal)) for slot in range(self.slots) for half in (0, 1))
            for diagonal in range(8)
        ]
        low, middle = d[7] // 128 + 2 * d[6] + 512 * d[5], d[4] + 256 * d[3]
        high = d[2] + 256 * d[1] + (65536 * d[0] if whole else 0)
        return low + (middle << 17) + (high << 33), d[0]

    def constants(self, whole, f16=False):
        image = bytearray()
        biased = self.biased_in_f16 if f16 else self.biased
        rows = [[biased(m, place, whole) for m in (0, 1)] for place in range(8 * self.tiles)]
        offset = 0 if whole else 8192
        wrap = lambda x, bits=64: (x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        for (c, _), (s, _) in rows:
            image += struct.pack("<2q", wrap(c + s + (offset << 49)), wrap(c - s + (offset << 49)))
        if not whole:
            for (_, c), (_, s) in rows:
                image += struct.pack("<2i", wrap(c + s - offset, 32), wrap(c - s - offset, 32))
            return image
        for t in range(4):
            c, s = rows[2 * t][0][0], rows[2 * t][1][0]
            four = [c, c, s, s] if t == 0 else [c + s, c - s, c - s, c + s]
            image += struct.pack("<4q", *map(wrap, four))
        return image


def rotations(n1, n2):
    matrices = 1 + (n2 not in (1, 2, 4))
    length = n1 * n2
    shifted_in, shifted_out = n1 % 2 == 0, n2 > 4 and n2 % 2 == 0
    image = bytearray()
    for k in range(n1 // 2 + 1):
        for j in range(n2 // 2 + 1):
            p = (2 * j * k - shifted_in * n2 * k - shifted_out * n1 * j) % (2 * length)
            c, s = cosine_sine(p, 2 * length)
            for part in (c, -s):
                value = (2 * abs(part) * (1 << 62) * 128**matrices + 127**matrices * ONE) // (2 * ONE * 127**matrices)
                value = value if part >= 0 else -value
                low = (value + (1 << 31)) % (1 << 32) - (1 << 31)
                image += struct.pack("<2i", (value - low) >> 32, low)
    return image


def tables(n1, n2, f16=False):
    steps = [Step(n1, False)] + ([Step(n2, True)] if n2 > 4 else [])
    fragments = Step.fragments_in_f16 if f16 else Step.fragments
    image = b"".join(fragments(step, m) for step in steps for m in (0, 1))
    image += steps[0].constants(True, f16)
    if n2 > 4:
        image += steps[1].constants(False, f16)
    return image + rotations(n1, n2)


def step_cost(n):
    return 42 if n in (2, 4) else n + max(0, n - 32) + 48


@lru_cache(None)
def cheapest(n, largest, units):
    """The rule of recipe/factor.rs."""
    if n == 1:
        return 0, ()
    best = None
    for d in range(min(n, largest, 64), 1, -1):
        if n % d == 0 and (units or d not in (2, 4)):
            rest = cheapest(n // d, d, units - (d in (2, 4)))
            if rest and (best is None or rest[0] + step_cost(d) < best[0]):
                best = rest[0] + step_cost(d), (d, *rest[1])
    return best


def numbers(n):
    source = random.Random(n)
    part = lambda: source.uniform(-1, 1)
    for line in range(LINES):
        for i in range(n):
            re, im = part(), part()
            match line % 8:
                case 1:
                    im = 0.0
                case 2:
                    re = 0.0
                case 3:
                    re = im = 0.0
                case 4:
                    re, im = (3.0, -1.0) if i == 2 else (re * 1e-9, im * 1e-9)
                case 5:
                    re, im = re * 1e-200, im * 1e-200
            yield re
            yield im


def digests(lengths, f16=False):
    for n in lengths:
        n1, n2 = (*cheapest(n, 64, 1)[1], 1)[:2]
        print(n, hashlib.sha256(tables(n1, n2, f16)).hexdigest())


def main():
    if sys.argv[1] in ("--digests", "--digests-in-f16"):
        return digests(map(int, sys.argv[2:]), sys.argv[1] == "--digests-in-f16")
    folder, program = Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    for n in map(int, sys.argv[3:]):
        steps = cheapest(n, 64, 1)[1]
        if len(steps) > 2:
            continue
        n1, n2 = (*steps, 1)[:2]
        data = struct.pack(f"<{2 * LINES * n}d", *numbers(n))
        header = f"{{'descr': '<c16', 'fortran_order': False, 'shape': ({LINES}, {n}), }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        given, result = folder / "given.npy", folder / "result.npy"
        given.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
        subprocess.run([program, "fft", given, result, "--axes", "1", "--engine", "digits"], check=True, capture_output=True)
        output = result.read_bytes()[-16 * LINES * n :]
        image = tables(n1, n2)
        (folder / f"{n}.bin").write_bytes(struct.pack("<4I", n1, n2, LINES, len(image)) + image + data + output)
        print(n, "=", n1, "x", n2, len(image), "bytes of tables", flush=True)
        given.unlink()
        result.unlink()


if __name__ == "__main__":
    main()
