// Every header of the system that kernels and the emulator include: they are included in namespaces (build.rs), these must not be.
#pragma once
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
