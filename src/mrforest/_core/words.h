/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MRFOREST_WORDS_H
#define MRFOREST_WORDS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "wide.h"

/* Several words that are worked on at once: the same operators, in wider registers where there are some. */
#if defined(__GNUC__)
typedef uint64_t MRForestWords __attribute__((vector_size(32)));
typedef uint64_t MRForestLooseWords __attribute__((vector_size(32), aligned(8), may_alias));
typedef double MRForestValues __attribute__((vector_size(32), aligned(8), may_alias));
#define MRFOREST_WHERE(CONDITION) ((MRForestWords)(CONDITION)) /* all bits of a word, or none */
#else
typedef uint64_t MRForestWords, MRForestLooseWords;
typedef double MRForestValues;
#define MRFOREST_WHERE(CONDITION) (-(uint64_t)(CONDITION))
#endif

static MRFOREST_INLINE int mrforest_any(MRForestWords words) {
    uint64_t parts[sizeof(MRForestWords) / sizeof(uint64_t)], any = 0;
    memcpy(parts, &words, sizeof words);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) any |= parts[i];
    return any != 0;
}

/* Whether any of n values is NaN */
MRFOREST_WIDE
static int mrforest_has_missing(const double *X, ptrdiff_t n) {
    enum { TOGETHER = sizeof(MRForestWords) / sizeof(uint64_t) };
    MRForestWords missing = {0};
    int is_missing = 0;
    ptrdiff_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER) {
        const MRForestValues x = *(const MRForestValues *)(X + i);
        missing |= MRFOREST_WHERE(x != x);
    }
    for (; i < n; i++) is_missing |= X[i] != X[i];
    return is_missing | mrforest_any(missing);
}

#endif
