/* heFFTe on its back end of ozfft, beside those that it was built with:
 *
 *   mpirun -n 4 heffte_ranks digests 60 48 50      a digest of every result, for several ways of dividing the array
 *   mpirun -n 2 heffte_ranks times 128 9           so many calls on one rank and on all of them, in turn, and ozfft_mpi.h's own plan
 *
 * crates/ozfft-mpi-c/heffte compiles and runs it. */
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <heffte.h>
#include <heffte_backend_ozfft.h>
#include <iomanip>
#include <iostream>
#include <thread>

/* With -DOZFFT_ALONE other back ends, and their libraries, are left out. */
#if defined(Heffte_ENABLE_FFTW) && !defined(OZFFT_ALONE)
#define WITH_FFTW
#endif

using heffte::box3d;
using heffte::backend::ozfft;
using numbers = std::vector<std::complex<double>>;
using reals = std::vector<double>;

static int rank, ranks;

/* A number between -1/2 and 1/2 for every index: the same on every rank. */
static double value(uint64_t index) {
    uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0 - 0.5;
}

/* Calls for every element of a box, in its order in memory, with its place in the whole array. */
static void visit(box3d<> const &world, box3d<> const &part, std::function<void(size_t, size_t)> const &element) {
    size_t own = 0;
    for (int z = part.low[2]; z <= part.high[2]; z++)
        for (int y = part.low[1]; y <= part.high[1]; y++)
            for (int x = part.low[0]; x <= part.high[0]; x++)
                element(own++, (static_cast<size_t>(z) * world.size[1] + y) * world.size[0] + x);
}

/* FNV-1a of the whole array's bytes, each number at its place. */
template <typename number>
static std::string digest(box3d<> const &world, box3d<> const &part, std::vector<number> const &array, MPI_Comm communicator) {
    std::vector<number> whole(world.count());
    visit(world, part, [&](size_t own, size_t place) { whole[place] = array[own]; });
    /* Every number is one rank's; bits are added to zeros. */
    int const words = static_cast<int>(whole.size() * sizeof(number) / sizeof(uint64_t));
    MPI_Allreduce(MPI_IN_PLACE, whole.data(), words, MPI_UINT64_T, MPI_SUM, communicator);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    unsigned char const *bytes = reinterpret_cast<unsigned char const *>(whole.data());
    for (size_t i = 0; i < whole.size() * sizeof(number); i++) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    std::ostringstream text;
    text << std::hex << std::setw(16) << std::setfill('0') << sum;
    return text.str();
}

static numbers complex_input(box3d<> const &world, box3d<> const &part) {
    numbers input(part.count());
    visit(world, part, [&](size_t own, size_t place) { input[own] = {value(2 * place), value(2 * place + 1)}; });
    return input;
}

static reals real_input(box3d<> const &world, box3d<> const &part) {
    reals input(part.count());
    visit(world, part, [&](size_t own, size_t place) { input[own] = value(place); });
    return input;
}

static void print(std::string const &library, std::string const &boxes, std::string const &kind, std::string const &sum) {
    if (rank == 0) std::cout << library << "\t" << boxes << "\t" << kind << "\t" << sum << "\n";
}

/* A way to divide the array, and what heFFTe is asked for. */
struct division {
    std::string name;
    std::array<int, 3> grid;
    bool by_default, contiguous, pencils;
};

/* Forward, and back from there. */
template <typename library>
static void print_digests(box3d<> const &world, division const &division) {
    auto const name = heffte::backend::name<library>();
    auto const &boxes = division.name;
    auto options = heffte::default_options<library>();
    if (not division.by_default) {
        options.use_reorder = division.contiguous;
        options.use_pencils = division.pencils;
    }
    box3d<> const part = heffte::split_world(world, division.grid)[rank];
    heffte::fft3d<library> complex(part, part, MPI_COMM_WORLD, options);
    numbers const input = complex_input(world, part);
    numbers spectrum(complex.size_outbox()), back(complex.size_inbox());
    complex.forward(input.data(), spectrum.data());
    print(name, boxes, "complex", digest(world, part, spectrum, MPI_COMM_WORLD));
    complex.backward(spectrum.data(), back.data(), heffte::scale::full);
    print(name, boxes, "complex backward", digest(world, part, back, MPI_COMM_WORLD));

    box3d<> const half_world = world.r2c(0), half = heffte::split_world(half_world, division.grid)[rank];
    heffte::fft3d_r2c<library> real(part, half, 0, MPI_COMM_WORLD, options);
    reals const real_numbers = real_input(world, part);
    numbers half_spectrum(real.size_outbox());
    reals real_back(real.size_inbox());
    real.forward(real_numbers.data(), half_spectrum.data());
    print(name, boxes, "real", digest(half_world, half, half_spectrum, MPI_COMM_WORLD));
    real.backward(half_spectrum.data(), real_back.data(), heffte::scale::full);
    print(name, boxes, "real backward", digest(world, part, real_back, MPI_COMM_WORLD));
}

static void expect(int code) {
    if (code != OZFFT_MPI_OK) throw std::runtime_error(ozfft_mpi_last_error());
}

/* The whole array in ozfft_mpi.h's hands, each rank with its part. */
struct own_plan {
    own_plan(box3d<> const &world, int kind, MPI_Comm communicator) {
        size_t const shape[3] = {static_cast<size_t>(world.size[2]), static_cast<size_t>(world.size[1]), static_cast<size_t>(world.size[0])};
        ozfft_mpi_problem problem;
        ozfft_mpi_defaults(&problem, 3, shape);
        problem.kind = kind;
        expect(ozfft_mpi_create(&problem, communicator, &plan));
    }
    ~own_plan() { ozfft_mpi_destroy(plan); }
    own_plan(own_plan const &) = delete;
    own_plan &operator=(own_plan const &) = delete;
    ozfft_mpi_plan *plan;
};

static void digests(box3d<> const &world) {
    auto const grid = heffte::make_procgrid(ranks);
    std::array<int, 3> const slabs{{1, 1, ranks}}, pencils{{1, grid[0], grid[1]}};
    /* In all but the last a dimension is cut only where those after it are, too: then heFFTe transforms dimensions in their order. */
    division const divisions[] = {
        {"slabs", slabs, true, false, false},
        {"pencils", pencils, true, false, false},
        {"bricks", ranks % 8 == 0 ? std::array<int, 3>{{2, 2, ranks / 4}} : pencils, true, false, false},
        {"contiguous", slabs, false, true, true},
        {"strided", slabs, false, false, false},
        {"least surface", heffte::proc_setup_min_surface(world, ranks), true, false, false},
    };
    for (auto const &division : divisions) {
#ifndef OZFFT_ALONE
        print_digests<heffte::backend::stock>(world, division);
#endif
#ifdef WITH_FFTW
        print_digests<heffte::backend::fftw>(world, division);
#endif
        print_digests<ozfft>(world, division);
    }
    numbers spectrum(world.count());
    own_plan complex(world, OZFFT_MPI_COMPLEX, MPI_COMM_SELF);
    expect(ozfft_mpi_execute(complex.plan, complex_input(world, world).data(), spectrum.data()));
    print("one process", "-", "complex", digest(world, world, spectrum, MPI_COMM_SELF));
    box3d<> const half = world.r2c(0);
    numbers half_spectrum(half.count());
    own_plan real(world, OZFFT_MPI_REAL_TO_COMPLEX, MPI_COMM_SELF);
    expect(ozfft_mpi_execute(real.plan, real_input(world, world).data(), half_spectrum.data()));
    print("one process", "-", "real", digest(half, half, half_spectrum, MPI_COMM_SELF));
}

/* What a rank of a communicator does in one call. */
using call = std::function<void()>;

template <typename library>
static call heffte_call(box3d<> const &world, MPI_Comm communicator, bool contiguous) {
    int own, all;
    MPI_Comm_rank(communicator, &own);
    MPI_Comm_size(communicator, &all);
    box3d<> const part = heffte::split_world(world, {{1, 1, all}})[own];
    auto options = heffte::default_options<library>();
    options.use_reorder = contiguous;
    auto const fft = std::make_shared<heffte::fft3d<library>>(part, part, communicator, options);
    auto const input = std::make_shared<numbers>(complex_input(world, part));
    auto const output = std::make_shared<numbers>(fft->size_outbox());
    auto const workspace = std::make_shared<numbers>(fft->size_workspace());
    return [=] { fft->forward(input->data(), output->data(), workspace->data()); };
}

static call own_call(box3d<> const &world, MPI_Comm communicator) {
    auto const plan = std::make_shared<own_plan>(world, OZFFT_MPI_COMPLEX, communicator);
    auto const input = std::make_shared<numbers>(ozfft_mpi_input_len(plan->plan));
    for (size_t i = 0; i < input->size(); i++) (*input)[i] = {value(2 * i), value(2 * i + 1)};
    auto const output = std::make_shared<numbers>(ozfft_mpi_output_len(plan->plan));
    return [=] { expect(ozfft_mpi_execute(plan->plan, input->data(), output->data())); };
}

/* Waits for all ranks without keeping a core busy: others are being timed. */
static void wait_for_all() {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; not done;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (not done) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

static double seconds_of(call const &work) {
    MPI_Barrier(MPI_COMM_WORLD);
    double const start = MPI_Wtime();
    work();
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

static void times(box3d<> const &world, int calls) {
    struct timed {
        std::string library;
        call alone, together;
        std::vector<double> times[2];
    };
    std::vector<timed> libraries;
    auto const add = [&](std::string const &name, call const &alone, call const &together) {
        libraries.push_back({name, alone, together, {}});
    };
    for (bool contiguous : {true, false}) {
        std::string const lines = contiguous ? ", contiguous" : ", strided";
#ifdef WITH_FFTW
        using heffte::backend::fftw;
        add("heFFTe on fftw" + lines, heffte_call<fftw>(world, MPI_COMM_SELF, contiguous), heffte_call<fftw>(world, MPI_COMM_WORLD, contiguous));
#endif
        add("heFFTe on ozfft" + lines, heffte_call<ozfft>(world, MPI_COMM_SELF, contiguous), heffte_call<ozfft>(world, MPI_COMM_WORLD, contiguous));
    }
    add("ozfft-mpi", own_call(world, MPI_COMM_SELF), own_call(world, MPI_COMM_WORLD));
    /* The first call of each plans, and is not counted. */
    for (int number = -1; number < calls; number++) {
        for (auto &library : libraries) {
            double alone = 0.0;
            wait_for_all();
            if (rank == 0) {
                double const start = MPI_Wtime();
                library.alone();
                alone = MPI_Wtime() - start;
            }
            wait_for_all();
            double const together = seconds_of(library.together);
            if (number < 0) continue;
            library.times[0].push_back(alone);
            library.times[1].push_back(together);
        }
    }
    if (rank != 0) return;
    std::cout << std::left << std::setw(28) << "library" << "1 rank, ms (median)  " << ranks << " ranks, ms (median)  least over least  median over median\n" << std::fixed;
    for (auto &library : libraries) {
        double least[2], median[2];
        for (int i = 0; i < 2; i++) {
            std::sort(library.times[i].begin(), library.times[i].end());
            least[i] = 1e3 * library.times[i].front();
            median[i] = 1e3 * library.times[i][library.times[i].size() / 2];
        }
        std::cout << std::left << std::setw(28) << library.library << std::right << std::setprecision(1);
        for (int i = 0; i < 2; i++) std::cout << std::setw(10) << least[i] << " (" << std::setw(7) << median[i] << ") ";
        std::cout << std::setprecision(2) << std::setw(17) << least[0] / least[1] << std::setw(20) << median[0] / median[1] << "\n";
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        if (argc == 5 and std::strcmp(argv[1], "digests") == 0) {
            digests(box3d<>({0, 0, 0}, {std::atoi(argv[2]) - 1, std::atoi(argv[3]) - 1, std::atoi(argv[4]) - 1}));
        } else if (argc == 4 and std::strcmp(argv[1], "times") == 0 and std::atoi(argv[3]) > 0) {
            int const last = std::atoi(argv[2]) - 1;
            times(box3d<>({0, 0, 0}, {last, last, last}), std::atoi(argv[3]));
        } else {
            if (rank == 0) std::cerr << "heffte_ranks digests X Y Z, or heffte_ranks times N CALLS\n";
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    } catch (std::exception const &error) {
        std::cerr << "rank " << rank << ": " << error.what() << "\n";
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
