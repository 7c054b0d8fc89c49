/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ChaCha20, the stream cipher of Bernstein, as in RFC 8439: nobody who sees part of its output can
 * tell the rest, which a generator made for simulation does not promise. */
#ifndef MRFOREST_CHACHA_H
#define MRFOREST_CHACHA_H
#include <stddef.h>
#include <stdint.h>

#define CHACHA20_BLOCK 64

static inline uint32_t chacha20_rotate(uint32_t x, int n) { return (x << n) | (x >> (32 - n)); }

static inline void chacha20_quarter(uint32_t x[16], int a, int b, int c, int d) {
    x[a] += x[b];
    x[d] = chacha20_rotate(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = chacha20_rotate(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = chacha20_rotate(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = chacha20_rotate(x[b] ^ x[c], 7);
}

/* Numbers are stored with the least significant byte first, whatever the machine does. */
static inline uint32_t chacha20_load(const uint8_t bytes[4]) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void chacha20_store(uint32_t word, uint8_t bytes[4]) {
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(word >> (8 * i));
}

/* Constants, key, block counter (word 12), nonce: section 2.3 of the RFC. */
static inline void chacha20_start(uint32_t state[16], const uint8_t key[32], uint32_t counter,
                                  const uint8_t nonce[12]) {
    state[0] = 0x61707865u;
    state[1] = 0x3320646eu;
    state[2] = 0x79622d32u;
    state[3] = 0x6b206574u;
    for (int i = 0; i < 8; i++) state[4 + i] = chacha20_load(key + 4 * i);
    state[12] = counter;
    for (int i = 0; i < 3; i++) state[13 + i] = chacha20_load(nonce + 4 * i);
}

/* One block of the key stream. The counter is left as it is. */
static inline void chacha20_block(const uint32_t state[16], uint8_t out[CHACHA20_BLOCK]) {
    uint32_t x[16];
    for (int i = 0; i < 16; i++) x[i] = state[i];
    for (int round = 0; round < 20; round += 2) {
        for (int i = 0; i < 4; i++) chacha20_quarter(x, i, 4 + i, 8 + i, 12 + i);
        for (int i = 0; i < 4; i++) chacha20_quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
    for (int i = 0; i < 16; i++) chacha20_store(x[i] + state[i], out + 4 * i);
}

/* Through a volatile pointer, so that the compiler does not leave it out as useless. */
static inline void chacha20_wipe(void *memory, size_t n_bytes) {
    volatile uint8_t *byte = (volatile uint8_t *)memory;
    while (n_bytes--) *byte++ = 0;
}

#endif
