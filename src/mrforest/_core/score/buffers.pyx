# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of an object, which are freed with it."""

from libc.stdlib cimport free, malloc, realloc


cdef class Buffers:
    """Arrays that are never freed one by one."""

    cdef void* take(self, size_t n_bytes) except NULL:
        """Another array; its contents are anything."""
        cdef void** items = <void**> realloc(self.items, (self.n_items + 1) * sizeof(void*))
        if items is NULL:
            raise MemoryError("no memory to grow a tree")
        self.items = items
        items[self.n_items] = malloc(n_bytes)
        if items[self.n_items] is NULL:
            raise MemoryError("no memory to grow a tree")
        self.n_items += 1
        return items[self.n_items - 1]

    def __dealloc__(self):
        cdef int i
        for i in range(self.n_items):
            free(self.items[i])
        free(self.items)
