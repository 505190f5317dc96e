// The pointwise part of the Taylor–Green vortex on a GPU, operation by operation as turbulence.rs has it on the processor, and compiled
// without fused operations: the bits are the same. Arrays of three or six components lie one component after the other.

struct Waves {
    const double *x, *y, *z;               // wave numbers along the axes
    const unsigned char *keep_x, *keep_y, *keep_z;  // whether the 2/3 rule keeps them
    long long nx, ny, nz;                  // entries of a half-spectrum
};
struct Wave {
    double x, y, z;
    bool keep;
};

static __device__ Wave wave_at(const Waves &waves, long long entry) {
    const long long z = entry % waves.nz, row = entry / waves.nz, y = row % waves.ny, x = row / waves.ny;
    return {waves.x[x], waves.y[y], waves.z[z], waves.keep_x[x] && waves.keep_y[y] && waves.keep_z[z]};
}
static __device__ double2 scaled(double2 a, double factor) { return {a.x * factor, a.y * factor}; }
static __device__ double2 sum(double2 a, double2 b) { return {a.x + b.x, a.y + b.y}; }
static __device__ double2 difference(double2 a, double2 b) { return {a.x - b.x, a.y - b.y}; }
static __device__ double2 times_i(double2 a) { return {-a.y, a.x}; }

static __device__ long long thread() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

// Velocity and vorticity, from the velocity.
extern "C" __global__ void vorticity(Waves waves, const double2 *state, double2 *spectra, long long entries) {
    const long long i = thread();
    if (i >= entries) return;
    const Wave k = wave_at(waves, i);
    const double2 u = state[i], v = state[entries + i], w = state[2 * entries + i];
    spectra[i] = u;
    spectra[entries + i] = v;
    spectra[2 * entries + i] = w;
    spectra[3 * entries + i] = times_i(difference(scaled(w, k.y), scaled(v, k.z)));
    spectra[4 * entries + i] = times_i(difference(scaled(u, k.z), scaled(w, k.x)));
    spectra[5 * entries + i] = times_i(difference(scaled(v, k.x), scaled(u, k.y)));
}

// u × ω, in place of the velocity. The fields are those in memory times the factor: 1, which changes no bit, or what cuFFT leaves to its callers.
extern "C" __global__ void cross(double *fields, long long points, double factor) {
    const long long i = thread();
    if (i >= points) return;
    const double u = factor * fields[i], v = factor * fields[points + i], w = factor * fields[2 * points + i];
    const double a = factor * fields[3 * points + i], b = factor * fields[4 * points + i], c = factor * fields[5 * points + i];
    fields[i] = v * c - w * b;
    fields[points + i] = w * a - u * c;
    fields[2 * points + i] = u * b - v * a;
}

// The rate of change: u × ω without its gradient, and friction.
extern "C" __global__ void project(Waves waves, const double2 *state, double2 *rates, long long entries, double viscosity) {
    const long long i = thread();
    if (i >= entries) return;
    const Wave k = wave_at(waves, i);
    double2 *const a = rates + i, *const b = rates + entries + i, *const c = rates + 2 * entries + i;
    if (!k.keep) {
        *a = *b = *c = {0.0, 0.0};
        return;
    }
    const double square = k.x * k.x + k.y * k.y + k.z * k.z;
    if (square == 0.0) return;
    double2 along = sum(sum(scaled(*a, k.x), scaled(*b, k.y)), scaled(*c, k.z));
    along = {along.x / square, along.y / square};
    const double friction = viscosity * square;
    *a = difference(difference(*a, scaled(along, k.x)), scaled(state[i], friction));
    *b = difference(difference(*b, scaled(along, k.y)), scaled(state[entries + i], friction));
    *c = difference(difference(*c, scaled(along, k.z)), scaled(state[2 * entries + i], friction));
}

// A stage of the Runge–Kutta method.
extern "C" __global__ void advance(double2 *total, double2 *stage, const double2 *state, const double2 *rates, long long count, double weight, double step) {
    const long long i = thread();
    if (i >= count) return;
    total[i] = sum(total[i], scaled(rates[i], weight));
    stage[i] = sum(state[i], scaled(rates[i], step));
}

// Energy and enstrophy of the planes of wave numbers, a block each. All threads form terms, and two add them up in their order.
extern "C" __global__ void moments(Waves waves, const double2 *state, double *sums, long long entries) {
    __shared__ double terms[2][256];
    const long long plane = waves.ny * waves.nz, first = blockIdx.x * plane;
    double total = 0.0;
    for (long long start = 0; start < plane; start += 256) {
        const long long place = start + threadIdx.x;
        if (place < plane) {
            const long long i = first + place;
            const Wave k = wave_at(waves, i);
            const double2 u = state[i], v = state[entries + i], w = state[2 * entries + i];
            const double square = (u.x * u.x + u.y * u.y) + (v.x * v.x + v.y * v.y) + (w.x * w.x + w.y * w.y);
            // Half of the sum, and an entry with z > 0 stands for two.
            const double share = k.z == 0.0 ? 0.5 * square : square;
            terms[0][threadIdx.x] = share;
            terms[1][threadIdx.x] = share * (k.x * k.x + k.y * k.y + k.z * k.z);
        }
        __syncthreads();
        const int count = plane - start < 256 ? (int)(plane - start) : 256;
        if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
            for (int i = 0; i < count; i++) total += terms[threadIdx.x / 32][i];
        __syncthreads();
    }
    if (threadIdx.x % 32 == 0 && threadIdx.x < 64) sums[2 * blockIdx.x + threadIdx.x / 32] = total;
}
