// Every header of the system that kernels and the emulator include: they are included in namespaces (build.rs), these must not be.
// Containers are optimised as the emulator is (emulation/emulator.h): others would not be inlined there, and products would not be added up by vectors.
#pragma once
#pragma GCC push_options
#pragma GCC optimize("O3")
#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <ucontext.h>
#include <vector>
#pragma GCC pop_options
