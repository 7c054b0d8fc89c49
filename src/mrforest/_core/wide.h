/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MRFOREST_WIDE: compile a function twice where that can be, once for wider registers. Both do the same
 * operations one by one, so their results are the same to the bit.
 *
 * MRFOREST_512, MRFOREST_256: a function written for registers of so many bits, to be called where
 * mrforest_has_512 or mrforest_has_256. Each has a plain twin, which the checked build runs. */
#ifndef MRFOREST_WIDE_H
#define MRFOREST_WIDE_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define MRFOREST_WIDE __attribute__((target_clones("avx2", "default")))
#define MRFOREST_INLINE inline __attribute__((always_inline))
#else
#define MRFOREST_WIDE
#define MRFOREST_INLINE inline
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(MRFOREST_CHECKED)
#include <immintrin.h>
#include <stdlib.h>
#define MRFOREST_512 \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg,avx512vnni,popcnt,bmi,bmi2")))
#define MRFOREST_WITH_512 1
#define MRFOREST_256 __attribute__((target("avx2,fma,popcnt,bmi")))
#define MRFOREST_WITH_256 1
static int mrforest_has_512, mrforest_has_256;
__attribute__((constructor)) static void mrforest_look_for_registers(void) {
    const char *most = getenv("MRFOREST_REGISTERS"); /* bits, at most: to compare kernels */
    int bits = most == NULL ? 512 : atoi(most);
    __builtin_cpu_init();
    mrforest_has_256 = bits >= 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                       __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
    mrforest_has_512 = bits >= 512 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq") &&
                       __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vnni") &&
                       __builtin_cpu_supports("bmi2");
}
#endif

#endif
