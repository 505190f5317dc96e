// What the compiler knows of a block of one or two steps: sizes, how steps are padded to the tensor instruction's shape, which
// warp has which columns, and where words lie between the steps. docs/gpu-template.md has the reasons.
#pragma once
#include "arch/threads.cuh"

namespace bailey {

enum class Fold { NONE, UNIT, PLAIN, SHIFTED };

// What digits are multiplied in, and by what: bailey_digits.cuh, bailey_fp8.cuh, bailey_f16.cuh, bailey_wgmma.cuh (int8, by four warps together).
enum class Product { INT8, FP8, F16, WGMMA };

// Warps that multiply together.
DEVICE_CONSTANT int warps_together(Product product) { return product == Product::WGMMA ? 4 : 1; }

// A step of N points: pairs of its elements are slots, pairs of its outputs are rows of the matrices. DIGITS: of a word. DIAGONALS: of its
// products, as many or one more.
template <int N, int DIGITS_ = 8, Product PRODUCT_ = Product::INT8, int DIAGONALS_ = DIGITS_> struct StepShape {
    static constexpr int DIGITS = DIGITS_, DIAGONALS = DIAGONALS_;
    static constexpr Product PRODUCT = PRODUCT_;
    static_assert((DIGITS == 8 && DIAGONALS == 8) || (DIGITS >= 3 && DIGITS < 8 && PRODUCT == Product::INT8), "fewer digits are multiplied by mma.sync in int8");
    // Below the unit of words there is a diagonal that is rounded away. What biased digits would add to it is no whole unit, so that digits have
    // signs.
    static constexpr bool SIGNED = DIAGONALS > DIGITS;
    static_assert(DIAGONALS - DIGITS == (SIGNED ? 1 : 0), "as many diagonals, or one more");
    static constexpr bool INT8 = PRODUCT == Product::INT8 || PRODUCT == Product::WGMMA;
    static constexpr Fold FOLD = N == 1 ? Fold::NONE : N == 2 || N == 4 ? Fold::UNIT : N % 2 == 1 ? Fold::PLAIN : Fold::SHIFTED;
    static constexpr bool PLAIN = FOLD == Fold::PLAIN, MATRIX = PLAIN || FOLD == Fold::SHIFTED;
    static constexpr int SLOTS = (N + 1) / 2;  // and rows of the cosine matrix
    static constexpr int PAIRS = N / 2;        // outputs that have a partner
    static constexpr int QUADS = (SLOTS + 3) / 4;
    static constexpr int TILES = MATRIX ? (SLOTS + 7) / 8 : 0;  // tiles of eight outputs
    // Tiles of eight slots, of which the upper and the lower digits are products of their own; and whether a rest of four or fewer
    // slots is left, whose upper and lower digits share products.
    static constexpr int K_TILES = SLOTS / 8 + (SLOTS % 8 > 4), FOURS = SLOTS % 8 > 0 && SLOTS % 8 <= 4 ? 1 : 0;
    // Pieces of the matrix of eight outputs: each is four diagonals of one operand, 256 bytes of either, or as many as there are. In fp8 and in f16 all operands of a tile of slots have the same pieces: 16 columns of nibbles, or 8 of digits, 256 bytes
    // each.
    static constexpr int UPPER = K_TILES + FOURS, LOWER = 2 * K_TILES + FOURS;
    static constexpr int COLUMNS = PRODUCT == Product::FP8 ? 16 : 8;
    static constexpr int UPPER_PIECE = 256 * (DIAGONALS < 4 ? DIAGONALS : 4), LOWER_PIECE = 256 * DIAGONALS - UPPER_PIECE;
    static constexpr int TILE_BYTES = INT8 ? UPPER_PIECE * UPPER + LOWER_PIECE * LOWER : 256 * COLUMNS * UPPER;
    static constexpr int MATRIX_BYTES = MATRIX ? TILES * TILE_BYTES : 0;
};

// Bytes of the tables, in the order in which they lie (executor/cuda/tables/bailey_tables.rs): cosines and sines of both steps, what
// sums are biased by, rotations.
template <int N1, int N2, int DIGITS = 8, Product PRODUCT = Product::INT8, int DIAGONALS = DIGITS> struct TableShape {
    typedef StepShape<N1, DIGITS, PRODUCT, DIAGONALS> First;
    typedef StepShape<N2, DIGITS, PRODUCT, DIAGONALS> Last;
    static constexpr int COSINE1 = 0, SINE1 = First::MATRIX_BYTES, COSINE2 = 2 * First::MATRIX_BYTES, SINE2 = COSINE2 + Last::MATRIX_BYTES;
    static constexpr int CONSTANTS1 = SINE2 + Last::MATRIX_BYTES;
    static constexpr int FIRST_CONSTANTS = CONSTANTS1 + 128 * First::TILES;  // of the first four outputs of a shifted first step
    static constexpr int CONSTANTS2 = FIRST_CONSTANTS + 128;
    static constexpr int TOPS2 = CONSTANTS2 + 128 * Last::TILES;
    static constexpr int ROTATIONS = TOPS2 + 64 * Last::TILES;
    static constexpr int ANGLES = N2 / 2 + 1;  // of an output of the first step
    static constexpr int BYTES = ROTATIONS + 16 * (N1 / 2 + 1) * ANGLES;
};

DEVICE_CONSTANT int next_with(int least, int remainder, int modulus) {
    return least + ((remainder - least) % modulus + modulus) % modulus;
}

// A block of threads has LINES lines at a time. Eight columns are a unit, and a warp takes UNITS of them together, so that a
// matrix that is loaded serves all. STRIDED: neighbouring lines are neighbours in memory.
//
// Contiguous lines: units are of neighbouring columns (first step) or rows (last step), one line after the other; strided
// ones: of the same column of neighbouring lines. Either way neighbouring threads read and write 128 bytes side by side.
//
// GROUPS: so many groups of warps, each with LINES lines of its own, share the tables in the block's shared memory; with 0
// there is one group, and tables are left to the first-level cache.
//
// COLUMNS_ACROSS: units of the first step are of the same column of neighbouring lines, as those of the last step are with STRIDED;
// lines that are read from where they are contiguous, and written side by side, have one but not the other.
//
// Number: Double, Single (bailey_single.cuh), DoubleFewer (bailey_fewer.cuh), DoubleFp8 (bailey_fp8.cuh) or DoubleF16 (bailey_f16.cuh): it says how digits are multiplied as well.
struct Double;
template <int N1_, int N2_, int LINES_, int UNITS1_, int UNITS2_, bool STRIDED_, int GROUPS_, bool COLUMNS_ACROSS_ = STRIDED_, class Number_ = Double>
struct BlockShape {
    typedef Number_ Number;
    static constexpr int N1 = N1_, N2 = N2_, N = N1 * N2, LINES = LINES_, UNITS1 = UNITS1_, UNITS2 = UNITS2_;
    static constexpr bool STRIDED = STRIDED_, COLUMNS_ACROSS = COLUMNS_ACROSS_, SHARED_TABLES = GROUPS_ > 0;
    static constexpr int GROUPS = GROUPS_ > 0 ? GROUPS_ : 1;
    typedef StepShape<N1, Number::DIGITS, Number::PRODUCT, Number::DIAGONALS> First;
    typedef StepShape<N2, Number::DIGITS, Number::PRODUCT, Number::DIAGONALS> Last;
    typedef TableShape<N1, N2, Number::DIGITS, Number::PRODUCT, Number::DIAGONALS> Tables;
    // Lines of a panel, and what is worked out of each: all columns and all rows. (Real lines need half of either: bailey_real.cuh.)
    static constexpr int PANEL = LINES, COLUMNS_OF_LINE = N2, ROWS_OF_LINE = N1;
    // Points of the last step, and of the one before where there are three: bailey_three.cuh.
    static constexpr int LAST = N2, MIDDLE = 1;
    static constexpr int COLUMNS = LINES * COLUMNS_OF_LINE, ROWS = PANEL * ROWS_OF_LINE;
    static constexpr int TOGETHER = warps_together(Number::PRODUCT);
    // Of a group.
    static constexpr int WARPS = next_with((COLUMNS + 8 * UNITS1 - 1) / (8 * UNITS1), 0, TOGETHER);
    static constexpr int GROUP_THREADS = 32 * WARPS, THREADS = GROUPS * GROUP_THREADS;
    // Whether a warp's columns may be of several lines.
    static constexpr bool ONE_LINE = LINES == 1 || (!COLUMNS_ACROSS && N2 % (8 * UNITS1) == 0);
    // From row to row and from line to line, in places of 16 bytes. A quarter of a warp reads and writes four rows of two
    // neighbouring columns, then four columns of two rows at a distance of two; or, strided, of two neighbouring lines: these
    // distances keep the banks apart.
    static constexpr int PITCH = COLUMNS_ACROSS ? next_with(N2, 1, 2) : next_with(N2, 2, 4);
    static constexpr int LINE = STRIDED ? next_with(N1 * PITCH, 4, 8) : N1 * PITCH;
    // A group's shared memory: words; largest real and imaginary part and largest sum of a column for every line, twice. Then the
    // exponent that all lines have in common, and the tables.
    static constexpr int STATISTICS = N2 == 1 ? 0 : 16 * LINE * LINES;
    static constexpr int GROUP = STATISTICS + 2 * 16 * LINES;
    static constexpr int COMMON = GROUPS * GROUP, TABLES = next_with(COMMON + 16, 0, TOGETHER == 1 ? 16 : 128);
    static constexpr int SHARED = TABLES + (SHARED_TABLES ? Tables::BYTES : 0);
    static constexpr int FIRST_TABLE = 0;  // in the image of the tables
    // Whether a warp has whole lines of its own, so that only its own threads wait for each other: passes (bailey_passes.cuh).
    static constexpr bool LOCAL = false, IN_PLACE = false;
    static_assert(First::MATRIX && N1 <= 64 && N2 <= 128, "first steps are products");
    static_assert(TOGETHER == 1 || SHARED_TABLES, "the tensor unit reads matrices from shared memory");
    // Of two real lines, or columns, that are together in the first step: their numbers in the last one.
    static DEVICE int line_of_pair(int pair, int part) { return 2 * pair + part; }
    // Where output number `output` of row k1 lies in that row, as long as it has not been stored.
    static DEVICE int place_of_output(int, int output) { return output; }
};

// The same with as many of the groups as fit BYTES of shared memory; with none, where not even one does beside the tables.
template <int N1, int N2, int LINES, int UNITS1, int UNITS2, bool STRIDED, int GROUPS, int BYTES> struct Within {
    typedef BlockShape<N1, N2, LINES, UNITS1, UNITS2, STRIDED, 1> One;
    static constexpr int ROOM = BYTES - 16 - One::Tables::BYTES;
    static constexpr int FITTING = ROOM < One::GROUP ? 0 : ROOM / One::GROUP;
    typedef BlockShape<N1, N2, LINES, UNITS1, UNITS2, STRIDED, FITTING < GROUPS ? FITTING : GROUPS> Shape;
};

// Which line and which column (or row) is number `index` of LENGTH columns of each of LINES lines: neighbours are of neighbouring
// lines, or neighbours in a line.
template <bool ACROSS, int LINES, int LENGTH> struct Numbered {
    int line, place;
    DEVICE explicit Numbered(int index) {
        const unsigned i = (unsigned)index;
        if (ACROSS) {
            line = i % LINES;
            place = i / LINES;
        } else {
            line = i / LENGTH;
            place = i % LENGTH;
        }
    }
};

}  // namespace bailey
