/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Philox4x64-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3" (SC 2011). Word for word the generator behind numpy.random.Philox. */
#ifndef MRFOREST_PHILOX_H
#define MRFOREST_PHILOX_H
#include <stdint.h>
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

static inline uint64_t philox_mulhilo(uint64_t a, uint64_t b, uint64_t *low) {
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#elif defined(_M_X64)
    uint64_t high;
    *low = _umul128(a, b, &high);
    return high;
#else
    uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    uint64_t other = a0 * b1 + (middle & 0xFFFFFFFFu);
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

/* One block: four words from a 128-bit key and a 256-bit counter, least significant word first. */
static inline void philox4x64(uint64_t key0, uint64_t key1, const uint64_t counter[4], uint64_t out[4]) {
    uint64_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    for (int round = 0; round < 10; round++) {
        uint64_t low0, low1;
        uint64_t high0 = philox_mulhilo(0xD2E7470EE14C6C93u, c0, &low0);
        uint64_t high1 = philox_mulhilo(0xCA5A826395121157u, c2, &low1);
        c0 = high1 ^ c1 ^ key0;
        c2 = high0 ^ c3 ^ key1;
        c1 = low1;
        c3 = low0;
        key0 += 0x9E3779B97F4A7C15u;
        key1 += 0xBB67AE8584CAA73Bu;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

#endif
