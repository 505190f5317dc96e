/* A back end for heFFTe 2.4: heffte::backend::ozfft, beside those that heFFTe was built with. heFFTe divides arrays and exchanges their parts; every line along
 * a dimension is transformed by libozfft_mpi_c, and has the same bits on every rank.
 *
 *   #include <heffte.h>
 *   #include <heffte_backend_ozfft.h>
 *   heffte::fft3d<heffte::backend::ozfft> fft(inbox, outbox, communicator);      // and fft3d_r2c, fft2d, ...
 *
 *   mpicxx program.cpp -lheffte -lozfft_mpi_c
 *
 * docs/distributed.md says for which boxes a result does not depend on the number of ranks. */
#ifndef HEFFTE_BACKEND_OZFFT_H
#define HEFFTE_BACKEND_OZFFT_H

#include "ozfft_mpi.h"
#include <algorithm>
#include <array>
#include <complex>
#include <heffte.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace heffte {

namespace backend {
/* Complex and real Fourier transforms in memory of the processor. */
struct ozfft {};
template <> struct is_enabled<ozfft> : std::true_type {};
template <> inline std::string name<ozfft>() { return "ozfft"; }
} // namespace backend

/* All lines of a box along one dimension, planned when they are first transformed: only then is the type of numbers known. A plan for one rank alone is one
 * of ozfft_mpi.h on MPI_COMM_SELF, whose names, unlike those of FFTW, every program has room for. */
class ozfft_lines {
public:
    template <typename index>
    ozfft_lines(box3d<index> const &box, int dimension)
        : shape{{1, static_cast<size_t>(box.size[dimension]), 1}} {
        /* Dimensions that vary faster in memory, and slower. */
        int const place = box.find_order(dimension);
        for (int i = 0; i < 3; i++)
            if (i != place) shape[i < place ? 2 : 0] *= static_cast<size_t>(box.osize(i));
    }

    /* In place. */
    template <typename real>
    void transform(std::complex<real> data[], direction way) const {
        execute(plan<real>(OZFFT_MPI_COMPLEX, way), data, data);
    }
    template <typename real>
    void transform(real const input[], std::complex<real> output[]) const {
        execute(plan<real>(OZFFT_MPI_REAL_TO_COMPLEX, direction::forward), input, output);
    }
    template <typename real>
    void transform(std::complex<real> const input[], real output[]) const {
        execute(plan<real>(OZFFT_MPI_COMPLEX_TO_REAL, direction::backward), input, output);
    }

private:
    struct destroy {
        void operator()(ozfft_mpi_plan *plan) const { ozfft_mpi_destroy(plan); }
    };
    using owned_plan = std::unique_ptr<ozfft_mpi_plan, destroy>;

    static void expect(int code) {
        if (code != OZFFT_MPI_OK) throw std::runtime_error(std::string("heffte::backend::ozfft: ") + ozfft_mpi_last_error());
    }

    static void execute(ozfft_mpi_plan *plan, void const *input, void *output) { expect(ozfft_mpi_execute(plan, input, output)); }

    /* The box's lines are complex, or real on one side: one plan for every type of real numbers and direction is enough. */
    template <typename real>
    ozfft_mpi_plan *plan(int kind, direction way) const {
        static_assert(std::is_same<real, float>::value or std::is_same<real, double>::value, "numbers are float or double");
        bool const backward = way == direction::backward;
        owned_plan &plan = plans[(sizeof(real) == sizeof(double) ? 2 : 0) + (backward ? 1 : 0)];
        if (not plan) {
            size_t const axis = 1;
            ozfft_mpi_problem problem;
            ozfft_mpi_defaults(&problem, shape.size(), shape.data());
            problem.kind = kind;
            problem.bytes = sizeof(real);
            problem.accuracy = std::is_same<real, float>::value ? OZFFT_MPI_SINGLE : OZFFT_MPI_DOUBLE;
            problem.inverse = backward;
            problem.norm = OZFFT_MPI_NORM_NONE; /* heFFTe scales */
            problem.axes_count = 1;
            problem.axes = &axis;
            ozfft_mpi_plan *made = nullptr;
            expect(ozfft_mpi_create(&problem, MPI_COMM_SELF, &made));
            plan.reset(made);
        }
        return plan.get();
    }

    /* As an array in C's order: slower dimensions together, the lines, faster dimensions together. */
    std::array<size_t, 3> shape;
    mutable std::array<owned_plan, 4> plans;
};

/* Complex transforms of a box along one, two or three dimensions. Several are transformed one after the other, forward in the order given and backward in the
 * opposite one: as heFFTe does where it exchanges parts in between, so that bits do not depend on whether it does. */
class ozfft_executor : public executor_base {
public:
    using executor_base::backward;
    using executor_base::complex_size;
    using executor_base::forward;

    template <typename index>
    ozfft_executor(void *, box3d<index> const box, int dimension) : ozfft_executor(box, std::vector<int>{dimension}) {}
    template <typename index>
    ozfft_executor(void *, box3d<index> const box, int first, int second) : ozfft_executor(box, std::vector<int>{first, second}) {}
    template <typename index>
    ozfft_executor(void *, box3d<index> const box) : ozfft_executor(box, std::vector<int>{0, 1, 2}) {}

    void forward(std::complex<float> data[], std::complex<float> *) const override { all_forward(data); }
    void forward(std::complex<double> data[], std::complex<double> *) const override { all_forward(data); }
    void backward(std::complex<float> data[], std::complex<float> *) const override { all_backward(data); }
    void backward(std::complex<double> data[], std::complex<double> *) const override { all_backward(data); }

    /* Real numbers as complex ones, with the whole spectrum. */
    void forward(float const input[], std::complex<float> output[], std::complex<float> *) const override { real_forward(input, output); }
    void forward(double const input[], std::complex<double> output[], std::complex<double> *) const override { real_forward(input, output); }
    void backward(std::complex<float> input[], float output[], std::complex<float> *) const override { real_backward(input, output); }
    void backward(std::complex<double> input[], double output[], std::complex<double> *) const override { real_backward(input, output); }

    int box_size() const override { return count; }
    /* Plans have a workspace of their own. */
    size_t workspace_size() const override { return 0; }

private:
    template <typename index>
    ozfft_executor(box3d<index> const &box, std::vector<int> const &dimensions) : count(static_cast<int>(box.count())) {
        for (int dimension : dimensions) lines.emplace_back(box, dimension);
    }

    template <typename real>
    void all_forward(std::complex<real> data[]) const {
        for (auto along = lines.begin(); along != lines.end(); ++along) along->transform(data, direction::forward);
    }
    template <typename real>
    void all_backward(std::complex<real> data[]) const {
        for (auto along = lines.rbegin(); along != lines.rend(); ++along) along->transform(data, direction::backward);
    }
    template <typename real>
    void real_forward(real const input[], std::complex<real> output[]) const {
        std::copy_n(input, count, output);
        all_forward(output);
    }
    template <typename real>
    void real_backward(std::complex<real> input[], real output[]) const {
        all_backward(input);
        std::transform(input, input + count, output, [](std::complex<real> const &number) { return number.real(); });
    }

    int count;
    std::vector<ozfft_lines> lines;
};

/* Real numbers of a box to the n/2 + 1 first numbers of the spectrum along a dimension, and back. */
class ozfft_executor_r2c : public executor_base {
public:
    using executor_base::backward;
    using executor_base::forward;

    template <typename index>
    ozfft_executor_r2c(void *, box3d<index> const box, int dimension)
        : reals(static_cast<int>(box.count())), complexes(static_cast<int>(box.r2c(dimension).count())), lines(box, dimension) {}

    void forward(float const input[], std::complex<float> output[], std::complex<float> *) const override { lines.transform(input, output); }
    void forward(double const input[], std::complex<double> output[], std::complex<double> *) const override { lines.transform(input, output); }
    void backward(std::complex<float> input[], float output[], std::complex<float> *) const override { half_backward(input, output); }
    void backward(std::complex<double> input[], double output[], std::complex<double> *) const override { half_backward(input, output); }

    int box_size() const override { return reals; }
    int complex_size() const override { return complexes; }
    size_t workspace_size() const override { return 0; }

private:
    template <typename real>
    void half_backward(std::complex<real> const input[], real output[]) const {
        lines.transform(input, output);
    }

    int reals, complexes;
    ozfft_lines lines;
};

template <> struct one_dim_backend<backend::ozfft> {
    using executor = ozfft_executor;
    using executor_r2c = ozfft_executor_r2c;
};

template <> struct default_plan_options<backend::ozfft> {
    /* Lines that lie side by side need not be brought together first. */
    static const bool use_reorder = false;
};

} // namespace heffte

#endif
