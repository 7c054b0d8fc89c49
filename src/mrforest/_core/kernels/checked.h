/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mrforest_at(i, n) is i, and in the `checked` build it is also the promise 0 <= i < n: the kernels
 * work on plain pointers, which Cython's own bounds checks do not see. */
#ifndef MRFOREST_CHECKED_H
#define MRFOREST_CHECKED_H
#include <stddef.h>

#ifdef MRFOREST_CHECKED
#include <stdio.h>
#include <stdlib.h>
static inline ptrdiff_t mrforest_checked(ptrdiff_t i, ptrdiff_t n, const char *file, int line) {
    if (i < 0 || i >= n) {
        fprintf(stderr, "mrforest: index %td is outside [0, %td) at %s:%d\n", i, n, file, line);
        abort();
    }
    return i;
}
#define mrforest_at(i, n) mrforest_checked((i), (n), __FILE__, __LINE__)
#else
#define mrforest_at(i, n) ((void)(n), (i))
#endif

#endif
