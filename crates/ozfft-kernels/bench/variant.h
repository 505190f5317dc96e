// A kernel of the template as the bench knows it: every source that `generate` writes registers some.
#pragma once
#include <cstdint>
#include <vector>

struct TunedArguments;

struct Variant {
    int n1, n2, lines, units1, units2, groups;
    bool strided, conversions;
    int warps, blocks_wanted, threads, shared_bytes, table_bytes;
    // The kernel itself, for attributes; and a launch on the default stream.
    const void *kernel;
    void (*launch)(const TunedArguments &arguments, uint64_t blocks, int threads, int shared_bytes);
};

inline std::vector<Variant> &variants() {
    static std::vector<Variant> all;
    return all;
}

struct Registered {
    explicit Registered(const Variant &variant) { variants().push_back(variant); }
};
