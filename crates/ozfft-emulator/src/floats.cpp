#include "floats/float_lines.cu"
#include "floats/float_digits.cu"
#include "floats/float_steps.cu"
#include "launch.h"

#define NAMED_FLOAT_KERNELS(name)                                                              \
    NAMED_KERNEL(FloatTask, name##_8x8), NAMED_KERNEL(FloatTask, name##_8x16),                 \
        NAMED_KERNEL(FloatTask, name##_16x16), NAMED_KERNEL(FloatTask, name##_16x32),          \
        NAMED_KERNEL(FloatTask, name##_32x32)

extern "C" bool ozfft_emulate_floats(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {
    static const NamedKernel kernels[] = {
        NAMED_FLOAT_KERNELS(float_bf16),
        NAMED_FLOAT_KERNELS(float_ozaki),
        NAMED_FLOAT_KERNELS(float_ozaki_hq),
        NAMED_FLOAT_KERNELS(float_fp16),
        NAMED_FLOAT_KERNELS(float_fp16_ozaki),
        NAMED_KERNEL(FloatTask, float_ozaki_two_level_8x8_conversions),
        NAMED_KERNEL(FloatTask, float_ozaki_two_level_8x16_conversions),
        NAMED_KERNEL(FloatTask, float_ozaki_two_level_16x16_conversions),
        NAMED_KERNEL(FloatTask, float_ozaki_two_level_16x32_conversions),
        NAMED_KERNEL(FloatTask, float_ozaki_two_level_32x32_conversions),
        NAMED_KERNEL(FloatStepsTask, float_whole_fast),
        NAMED_KERNEL(FloatStepsTask, float_whole_fast_all_conversions),
        NAMED_KERNEL(FloatStepsTask, float_whole_kahan),
        NAMED_KERNEL(FloatStepsTask, float_whole_kahan_all_conversions),
        NAMED_KERNEL(FloatStepsTask, float_whole_double_conversions),
        NAMED_KERNEL(FloatStepsTask, float_whole_double_all_conversions),
        NAMED_KERNEL(FloatStepsTask, float_whole_doubles_conversions),
        NAMED_KERNEL(FloatStepsTask, float_whole_doubles_all_conversions),
        NAMED_KERNEL(FloatStepsTask, float_phase_fast_conversions),
        NAMED_KERNEL(FloatStepsTask, float_phase_kahan_conversions),
        NAMED_KERNEL(FloatStepsTask, float_phase_double_conversions),
        NAMED_KERNEL(FloatStepsTask, float_phase_doubles_conversions),
        NAMED_KERNEL(FloatProduct, float_products_bf16),
        NAMED_KERNEL(FloatProduct, float_products_fp16),
    };
    return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);
}
