/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels that this build has, and those of them that this machine can run. */
#include "kernels.h"
#include "ways.h"

#include <string.h>

uint8_t mrforest_is_off[MRFOREST_N_WAYS];

extern const mrforest_kernels mrforest_kernels_baseline;
#ifdef MRFOREST_WITH_AVX2
extern const mrforest_kernels mrforest_kernels_avx2;
#endif

static int has_avx2(void) {
#ifdef MRFOREST_WITH_AVX2
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return 0;
#endif
}

const mrforest_kernels *mrforest_kernels_named(const char *name) {
    if (strcmp(name, "baseline") == 0) return &mrforest_kernels_baseline;
#ifdef MRFOREST_WITH_AVX2
    if (strcmp(name, "avx2") == 0 && has_avx2()) return &mrforest_kernels_avx2;
#endif
    return NULL;
}

const mrforest_kernels *mrforest_widest_kernels(void) {
    const mrforest_kernels *widest = mrforest_kernels_named("avx2");
    return widest != NULL ? widest : &mrforest_kernels_baseline;
}
