// target: fatbin
// Transforms of lines in f32 (`fast`), f32 with errors (`kahan`) and f64 (`double`), a kernel for any length; `doubles` reads and writes f64, too.
// `float_whole_…` have lines in shared memory; those with `_all` have other small DFTs than 2, 4 and 8 points, Bluestein's algorithm and
// any norm. `float_phase_…` do one operation on longer lines.
#include "floats/float_steps.cuh"

#define FLOAT_WHOLE(name, number, data, all) \
    KERNEL(256, 2) name(PARAMETERS FloatStepsTask task) { float_steps::whole_lines<number, data, all>(task); }
#define FLOAT_PHASE(name, number, data) \
    KERNEL(256, 2) name(PARAMETERS FloatStepsTask task) { float_steps::one_phase<number, data>(task); }

FLOAT_WHOLE(float_whole_fast, float_steps::Plain<float>, float, false)
FLOAT_WHOLE(float_whole_fast_all_conversions, float_steps::Plain<float>, float, true)
FLOAT_WHOLE(float_whole_kahan, float_steps::Carried, float, false)
FLOAT_WHOLE(float_whole_kahan_all_conversions, float_steps::Carried, float, true)
FLOAT_WHOLE(float_whole_double_conversions, float_steps::Plain<double>, float, false)
FLOAT_WHOLE(float_whole_double_all_conversions, float_steps::Plain<double>, float, true)
FLOAT_WHOLE(float_whole_doubles_conversions, float_steps::Plain<double>, double, false)
FLOAT_WHOLE(float_whole_doubles_all_conversions, float_steps::Plain<double>, double, true)

FLOAT_PHASE(float_phase_fast_conversions, float_steps::Plain<float>, float)
FLOAT_PHASE(float_phase_kahan_conversions, float_steps::Carried, float)
FLOAT_PHASE(float_phase_double_conversions, float_steps::Plain<double>, float)
FLOAT_PHASE(float_phase_doubles_conversions, float_steps::Plain<double>, double)
