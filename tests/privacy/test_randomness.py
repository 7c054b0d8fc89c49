# SPDX-License-Identifier: BSD-3-Clause
"""Bits are fair, nobody else's, and the same again only where a seed was given."""

import copy
import os
import pickle

import numpy as np
import pytest
from scipy.stats import chisquare

from mrforest.privacy.randomness import RandomBits, coins

P_VALUE = 1e-6


def test_numbers_are_uniform():
    random = RandomBits.seeded(1)
    for n_bits in (1, 3, 5):
        drawn = [random.bits(n_bits) for _ in range(20_000)]
        counts = np.bincount(drawn, minlength=2**n_bits)
        assert len(counts) == 2**n_bits
        assert chisquare(counts).pvalue > P_VALUE
    for n in (3, 6, 17):
        counts = np.bincount([random.below(n) for _ in range(20_000)], minlength=n)
        assert len(counts) == n
        assert chisquare(counts).pvalue > P_VALUE
    top = np.bincount((random.words(20_000) >> np.uint64(60)).astype(int))
    assert chisquare(top).pvalue > P_VALUE


def test_every_bit_of_a_large_number_is_fair():
    random = RandomBits.seeded(2)
    counts = np.zeros(131, dtype=int)
    for _ in range(4000):
        drawn = random.bits(131)
        assert drawn < 2**131
        counts += [drawn >> i & 1 for i in range(131)]
    # Six standard deviations
    assert np.abs(counts - 2000).max() < 6 * np.sqrt(1000)


def test_edges():
    random = RandomBits.seeded(0)
    assert random.bits(0) == 0
    assert random.below(1) == 0
    assert len(random.words(0)) == 0
    assert {random.below(2**200) >> 199 for _ in range(50)} == {0, 1}


def test_a_seed_and_a_path_make_a_stream():
    def start(*where):
        return RandomBits.seeded(*where).bits(64)

    places = [(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 1), (0, 1, 0)]
    assert len({start(*place) for place in places}) == len(places)
    assert start(3, 4) == start(3, 4)
    # Written down once: it must not depend on the platform.
    assert start(7) == 0x089251329489C5C2


def test_secure_streams_differ():
    assert RandomBits.secure().is_secure
    assert not RandomBits.seeded(0).is_secure
    assert not RandomBits(bytes(32)).is_secure
    assert RandomBits.secure().bits(128) != RandomBits.secure().bits(128)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_draws_other_bits():
    random = RandomBits.secure()
    random.bits(1)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, random.bits(128).to_bytes(16, "little"))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = int.from_bytes(os.read(reader, 16), "little")
    os.close(reader)
    os.close(writer)
    assert theirs != random.bits(128)


@pytest.mark.parametrize("random", [RandomBits.secure(), RandomBits.seeded(0)])
def test_there_are_no_copies(random):
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="RandomBits cannot be copied or pickled"):
            duplicate(random)


def test_the_key_is_not_shown():
    key = bytes(range(32))
    shown = repr(RandomBits(key)) + str(vars(RandomBits(key)))
    assert repr(RandomBits(key)) == "RandomBits.seeded(...)"
    assert key.hex() not in shown
    assert repr(key) not in shown


def test_bad_arguments():
    random = RandomBits.seeded(0)
    with pytest.raises(ValueError, match="n=-1"):
        random.bits(-1)
    with pytest.raises(ValueError, match="n=0"):
        random.below(0)
    with pytest.raises(ValueError, match="n=-2"):
        random.words(-2)
    with pytest.raises(ValueError, match="seed=-1"):
        RandomBits.seeded(-1)
    with pytest.raises(ValueError, match="path=-3"):
        RandomBits.seeded(1, -3)


def test_coins_are_fair_and_can_be_tossed_from_anywhere():
    key = bytes(range(32))
    tossed = coins(key, 0, 40_000)
    assert chisquare(np.bincount(tossed)).pvalue > P_VALUE
    pairs = 2 * tossed[:-1] + tossed[1:]
    assert chisquare(np.bincount(pairs[::2])).pvalue > P_VALUE
    assert (tossed != coins(bytes(32), 0, 40_000)).any()
    for first, n in [(0, 0), (1, 1), (511, 3), (512, 512), (5000, 1234)]:
        np.testing.assert_array_equal(coins(key, first, n), tossed[first : first + n])


def test_secure_unless_there_is_a_seed():
    assert RandomBits.of(None, 1, 2).is_secure
    assert not RandomBits.of(0, 1, 2).is_secure
    assert RandomBits.of(5, 1, 2).bits(64) == RandomBits.seeded(5, 1, 2).bits(64)
