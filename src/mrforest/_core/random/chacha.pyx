# SPDX-License-Identifier: BSD-3-Clause
"""A stream of bytes that cannot be told from chance without its key."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "random/chacha.h" nogil:
    enum:
        CHACHA20_BLOCK
    void chacha20_start(uint32_t* state, const uint8_t* key, uint32_t counter, const uint8_t* nonce)
    void chacha20_block(const uint32_t* state, uint8_t* out)
    void chacha20_wipe(void* memory, size_t n_bytes)

cdef uint64_t N_BLOCKS = <uint64_t> 1 << 32


cdef class ChaCha20:
    """The key stream of ChaCha20 (RFC 8439).

    The key leaves memory with the object. It cannot be copied or pickled: a copy would give
    the same bytes again.

    Parameters
    ----------
    key : bytes of length 32
    nonce : bytes of length 12
        A key may be used again with another nonce.
    counter : int, default=0
        The block to begin with, in [0, 2**32).

    Examples
    --------
    >>> ChaCha20(bytes(32), bytes(12)).read(4).hex()
    '76b8e0ad'
    """

    cdef uint32_t state[16]
    cdef uint8_t block[CHACHA20_BLOCK]
    # Bytes of `block` not given yet: its last ones
    cdef Py_ssize_t n_left
    cdef uint64_t n_blocks_left

    def __cinit__(self, bytes key not None, bytes nonce not None, *, counter=0):
        if len(key) != 32:
            raise ValueError(f"key has {len(key)} bytes, it must have 32")
        if len(nonce) != 12:
            raise ValueError(f"nonce has {len(nonce)} bytes, it must have 12")
        if not 0 <= counter < N_BLOCKS:
            raise ValueError(f"counter={counter} must be in [0, 2**32)")
        chacha20_start(
            self.state, <const uint8_t*> PyBytes_AS_STRING(key), counter,
            <const uint8_t*> PyBytes_AS_STRING(nonce))
        self.n_left = 0
        self.n_blocks_left = N_BLOCKS - <uint64_t> counter

    def __dealloc__(self):
        chacha20_wipe(self.state, sizeof(self.state))
        chacha20_wipe(self.block, sizeof(self.block))

    def __reduce__(self):
        raise TypeError("ChaCha20 cannot be copied or pickled: the copy would give the same bytes")

    def read(self, Py_ssize_t n_bytes):
        """Give the next bytes of the key stream.

        Raises
        ------
        OverflowError
            If the 2**32 blocks of the key and nonce do not suffice; nothing is used up then.
        """
        if n_bytes < 0:
            raise ValueError(f"n_bytes={n_bytes} must not be negative")
        cdef bytes out = PyBytes_FromStringAndSize(NULL, n_bytes)
        # Two threads must not be given the same bytes.
        with cython.critical_section(self):
            self.fill(<uint8_t*> PyBytes_AS_STRING(out), n_bytes)
        return out

    def below(self, uint64_t n):
        """Draw a whole number, uniform in [0, n), 1 <= n <= 2**63.

        From the last bits of as many bytes, the first one the lowest, as its bits need; again if it
        is too high.
        """
        cdef uint8_t place[8]
        cdef uint64_t drawn
        cdef int i, n_bits = 0, n_bytes
        if not 1 <= n <= <uint64_t> 1 << 63:
            raise ValueError(f"n={n} must be in [1, 2**63]")
        while n_bits < 63 and n - 1 >= <uint64_t> 1 << n_bits:
            n_bits += 1
        n_bytes = (n_bits + 7) // 8
        with cython.critical_section(self):
            while True:
                self.fill(place, n_bytes)
                drawn = 0
                for i in range(n_bytes):
                    drawn |= <uint64_t> place[i] << (8 * i)
                drawn >>= 8 * n_bytes - n_bits
                if drawn < n:
                    return drawn

    cdef int fill(self, uint8_t* place, Py_ssize_t n_bytes) except -1:
        cdef Py_ssize_t n
        if n_bytes > self.n_left and (
            <uint64_t> (n_bytes - self.n_left - 1) // CHACHA20_BLOCK >= self.n_blocks_left
        ):
            raise OverflowError(
                f"n_bytes={n_bytes}: the key stream has "
                f"{self.n_left + CHACHA20_BLOCK * self.n_blocks_left} bytes left; take a new "
                "key or nonce")
        while n_bytes > 0:
            if self.n_left == 0:
                chacha20_block(self.state, self.block)
                self.state[12] += 1
                self.n_blocks_left -= 1
                self.n_left = CHACHA20_BLOCK
            n = min(n_bytes, self.n_left)
            memcpy(place, self.block + (CHACHA20_BLOCK - self.n_left), n)
            self.n_left -= n
            place += n
            n_bytes -= n
        return 0
