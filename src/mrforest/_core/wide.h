/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MRFOREST_WIDE: compile a function twice where that can be, once for wider registers. Both do the same
 * operations one by one, so their results are the same to the bit. */
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

#endif
