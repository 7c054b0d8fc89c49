# SPDX-License-Identifier: BSD-3-Clause
"""The key stream is that of RFC 8439, to the byte."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest._core import ChaCha20

ZERO_KEY = bytes(32)
ONE_KEY = bytes(31) + b"\x01"
HIGH_KEY = b"\x00\xff" + bytes(30)
ZERO_NONCE = bytes(12)
LAST_BLOCK = 2**32 - 1

# Section 2.3.2 and the five vectors of appendix A.1: key, nonce, counter, block
VECTORS = {
    "2.3.2": (
        bytes(range(32)),
        bytes.fromhex("000000090000004a00000000"),
        1,
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ),
    "A.1 #1": (
        ZERO_KEY,
        ZERO_NONCE,
        0,
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    "A.1 #2": (
        ZERO_KEY,
        ZERO_NONCE,
        1,
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    "A.1 #3": (
        ONE_KEY,
        ZERO_NONCE,
        1,
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    "A.1 #4": (
        HIGH_KEY,
        ZERO_NONCE,
        2,
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
    "A.1 #5": (
        ZERO_KEY,
        bytes(11) + b"\x02",
        0,
        "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
        "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
    ),
}


@pytest.mark.parametrize(("key", "nonce", "counter", "block"), VECTORS.values())
def test_vectors_of_the_rfc(key, nonce, counter, block):
    assert ChaCha20(key, nonce, counter=counter).read(64).hex() == block
    # The counter starts from 0 unless told: the block is found on the way, too.
    assert ChaCha20(key, nonce).read(64 * (counter + 1))[64 * counter :].hex() == block


@given(lengths=st.lists(st.integers(0, 200)))
def test_many_reads_are_one_read(lengths):
    stream = ChaCha20(ONE_KEY, ZERO_NONCE)
    parts = b"".join(stream.read(n) for n in lengths)
    assert parts == ChaCha20(ONE_KEY, ZERO_NONCE).read(sum(lengths))


@given(limits=st.lists(st.integers(1, 2**63)))
def test_numbers_below_a_limit(limits):
    """Bit for bit: the highest bits of as many bytes as they need, or of the next."""
    stream, bytes_ = ChaCha20(ONE_KEY, ZERO_NONCE), ChaCha20(ONE_KEY, ZERO_NONCE)
    for limit in limits:
        n_bits = (limit - 1).bit_length()
        n_bytes = -(-n_bits // 8)
        expected = limit
        while expected >= limit:
            number = int.from_bytes(bytes_.read(n_bytes), "little")
            expected = number >> (8 * n_bytes - n_bits)
        assert stream.below(limit) == expected
    assert stream.read(9) == bytes_.read(9)


def test_the_counter_does_not_wrap():
    stream = ChaCha20(ZERO_KEY, ZERO_NONCE, counter=LAST_BLOCK)
    whole = ChaCha20(ZERO_KEY, ZERO_NONCE, counter=LAST_BLOCK).read(64)
    assert stream.read(10) == whole[:10]
    with pytest.raises(OverflowError, match=r"n_bytes=55.* 54 bytes left"):
        stream.read(55)
    assert stream.read(54) == whole[10:]
    assert stream.read(0) == b""
    with pytest.raises(OverflowError, match="has 0 bytes left"):
        stream.read(1)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_there_are_no_copies(duplicate):
    with pytest.raises(TypeError, match="ChaCha20 cannot be copied or pickled"):
        duplicate(ChaCha20(ZERO_KEY, ZERO_NONCE))


def test_bad_arguments():
    with pytest.raises(ValueError, match="key has 31 bytes"):
        ChaCha20(bytes(31), ZERO_NONCE)
    with pytest.raises(ValueError, match="nonce has 8 bytes"):
        ChaCha20(ZERO_KEY, bytes(8))
    with pytest.raises(ValueError, match="counter=4294967296"):
        ChaCha20(ZERO_KEY, ZERO_NONCE, counter=2**32)
    with pytest.raises(ValueError, match="n_bytes=-1"):
        ChaCha20(ZERO_KEY, ZERO_NONCE).read(-1)
    for n in (0, 2**63 + 1):
        with pytest.raises(ValueError, match=f"n={n} must be in"):
            ChaCha20(ZERO_KEY, ZERO_NONCE).below(n)
    with pytest.raises(TypeError):
        ChaCha20("0" * 32, ZERO_NONCE)
