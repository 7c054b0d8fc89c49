# SPDX-License-Identifier: BSD-3-Clause
"""What is downloaded is whole, parsed and checked, or it is not there at all."""

import gzip
import io
import threading
import zipfile
from functools import partial
from hashlib import sha256

import pytest

pytest.importorskip("pooch")

from mrforest.experiments.datasets import DatasetError, _download
from mrforest.experiments.datasets._registry import Source
from mrforest.experiments.datasets._table import check, read
from tests.experiments import made_up
from tests.experiments.made_up import COMMA_SEPARATED, LABELS, Server, send

CONTENT = COMMA_SEPARATED.encode()


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def waits(monkeypatch):
    """Seconds that were waited, or would have been."""
    seconds = []
    monkeypatch.setattr("pooch.core.time.sleep", seconds.append)
    return seconds


@pytest.fixture
def fetch(tmp_path, waits):
    """Fetch the made-up dataset from sources into an empty folder."""
    cache = tmp_path / "cache"

    def fetch(*sources, **fields):
        entry = made_up.entry(tmp_path / "expected.csv", *sources, **fields)
        path = _download.fetch(entry, cache, visible=False)
        check(read(path, entry), entry)
        assert [file.name for file in cache.iterdir()] == ["shapes.csv.gz"]
        return made_up.unpacked(path)

    fetch.cache = cache
    return fetch


def delimited(*addresses, **fields):
    return Source(addresses=addresses, verified="no", labels=LABELS, **fields)


def zipped(**members):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return archive.getvalue()


ARFF = b"""\
% height, colour, ...
@RELATION shapes
@attribute height real
@ATTRIBUTE 'the colour' {red, 'blue'}
@attribute name string
@attribute class {0, 1}
@DATA
% now the rows
1.5,'red',a,1

2,blue,'b',0
?,red,c,0
-0.25,?,d,1
4, blue, e, 0
"""
C45 = b"""\
1, 0 | classes.
| comment
height: continuous. | may be missing
colour: red,blue.
name: ignore.
"""
TWO_PARTS = (
    b"1,1.5,red,a\n0,2,blue,b\n",
    b"|comment\r\n0,?,red,c\r\n1,-0.25,?,d\r\n0,4,blue,e",
)
BY_LABEL = ("target", "height", "colour", "name")


@pytest.mark.parametrize(
    ("contents", "options"),
    [
        ([CONTENT], {}),
        ([CONTENT.replace(b"\n", b"\r\n").rstrip()], {}),
        ([b"h;c;n;t\nreal;word;word;word\n" + CONTENT.replace(b",", b";")],
         {"separator": ";", "header": 2}),
        ([CONTENT.replace(b",", b" ")], {"separator": " "}),
        ([gzip.compress(CONTENT.replace(b", ", b"\t"))], {"separator": "\t"}),
        ([zipped(**{"read me": b"no", "folder/shapes.data": CONTENT})],
         {"members": ("shapes.data",)}),
        ([zipped(**{"shapes.data.gz": gzip.compress(CONTENT)})],
         {"members": ("shapes.data.gz",)}),
        ([ARFF], {"format": "arff"}),
        ([zipped(names=C45, data=CONTENT)],
         {"format": "c4.5", "members": ("names", "data")}),
        (TWO_PARTS, {"columns": BY_LABEL}),
        ([zipped(a=TWO_PARTS[0], b=TWO_PARTS[1])],
         {"columns": BY_LABEL, "members": ("a", "b")}),
        ([b"9," + CONTENT.strip().replace(b"\n", b"\n9,")],
         {"columns": ("-", "height", "colour", "name", "target")}),
        ([CONTENT.replace(b"red", b"1").replace(b"blue", b"0")],
         {"values": {"1": "red", "0": "blue"}}),
    ],
    ids=["commas", "dos", "semicolons", "blanks", "tabs, gzip", "zip", "gzip in zip",
         "arff", "c4.5", "two files", "two members", "a column left out", "codes"],
)  # fmt: skip
def test_every_family_of_files_gives_the_same_table(server, fetch, contents, options):
    addresses = [server.address(f"/{i}", text) for i, text in enumerate(contents)]
    assert fetch(delimited(*addresses, **options)) == made_up.TABLE


def test_it_is_the_same_bytes_each_time(server, fetch):
    source = delimited(server.address("/shapes", CONTENT))
    fetch(source)
    first = (fetch.cache / "shapes.csv.gz").read_bytes()
    fetch(source)
    assert (fetch.cache / "shapes.csv.gz").read_bytes() == first


def test_a_failing_server_is_asked_again(server, fetch, waits):
    fetch(delimited(server.address("/shapes", 503, 500, CONTENT)))
    assert server.asked == ["/shapes"] * 3
    assert waits == [1, 2]


def test_a_truncated_download_is_tried_again(server, fetch):
    cut = partial(send, content=CONTENT[:20], announced=len(CONTENT))
    fetch(delimited(server.address("/shapes", cut, cut, CONTENT)))
    assert len(server.asked) == 3


def is_refused(fetch, source, *reasons):
    with pytest.raises(DatasetError) as caught:
        fetch(source)
    for reason in (*reasons, source.addresses[0], "shapes could not be downloaded"):
        assert reason in str(caught.value)
    assert list(fetch.cache.iterdir()) == []


def test_a_download_that_stays_truncated_leaves_nothing(server, fetch):
    cut = partial(send, content=CONTENT[:20], announced=len(CONTENT))
    is_refused(fetch, delimited(server.address("/shapes", cut)))
    assert len(server.asked) == 1 + _download.N_RETRIES


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (CONTENT[:-14], "5 rows expected, 4 found"),
        (CONTENT.replace(b"red, a", b"green, a"), "column 'colour': checksum"),
        (b"<html>moved</html>", "4 cells expected, found ['<html>moved</html>']"),
        (b"", "5 rows expected, 0 found"),
        (CONTENT.replace(b"1.5", b"big"), "column 'height', row 0: 'big' is no number"),
        (b"\xff\xfe", "can't decode"),
        (gzip.compress(CONTENT)[:-9], "ended before"),
    ],
    ids=[
        "a row short",
        "a changed cell",
        "html",
        "empty",
        "no number",
        "no text",
        "cut gzip",
    ],
)
def test_wrong_content_leaves_nothing(server, fetch, content, reason):
    is_refused(fetch, delimited(server.address("/shapes", content)), reason)


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        (CONTENT, {"members": ("shapes.data",)}, "not a zip file"),
        (zipped(other=CONTENT), {"members": ("shapes.data",)}, "no file 'shapes.data'"),
        (CONTENT, {"format": "arff"}, "no line @data"),
        (CONTENT, {"sha256": ("0" * 64,)}, "SHA256 hash"),
    ],
)
def test_a_file_of_another_kind_leaves_nothing(server, fetch, content, options, reason):
    is_refused(fetch, delimited(server.address("/x", content), **options), reason)


def test_a_known_checksum_is_compared(server, fetch):
    known = sha256(CONTENT).hexdigest()
    damaged = CONTENT.replace(b"4", b"5")
    address = server.address("/shapes", damaged, CONTENT)
    assert fetch(delimited(address, sha256=(known,))) == made_up.TABLE


def test_the_next_source_is_tried(server, fetch):
    wrong = delimited(server.address("/wrong", b"nothing"))
    gone = delimited(server.address("/gone", 404))
    fetch(wrong, gone, delimited(server.address("/right", CONTENT)))
    assert server.asked[0] == "/wrong"
    assert server.asked[-1] == "/right"


def test_an_original_of_several_datasets_is_downloaded_once(server, tmp_path, waits):
    both = zipped(shapes=CONTENT, colours=CONTENT)
    address = server.address("/both.zip", both)
    for name in ("shapes", "colours"):
        source = delimited(address, members=(name,))
        entry = made_up.entry(tmp_path / "expected.csv", source, name=name, table=name)
        options = {"originals": tmp_path / "originals", "visible": False}
        path = _download.fetch(entry, tmp_path / "cache", **options)
        assert made_up.unpacked(path) == made_up.TABLE
    assert server.asked == ["/both.zip"]


def test_a_dataset_without_an_address_says_what_to_do(fetch):
    with pytest.raises(DatasetError, match=r"no address.*\n.*shapes\.csv\.gz.*--data"):
        fetch()


@pytest.mark.parametrize("moment", ["_Bar.update", "convert", "check"])
def test_an_interrupt_leaves_nothing(server, fetch, monkeypatch, moment):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"mrforest.experiments.datasets._download.{moment}", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(delimited(server.address("/shapes", CONTENT)))
    assert list(fetch.cache.iterdir()) == []


def test_a_damaged_table_is_replaced_and_kept_if_there_is_nothing_better(server, fetch):
    fetch.cache.mkdir()
    stored = fetch.cache / "shapes.csv.gz"
    stored.write_bytes(b"old")
    with pytest.raises(DatasetError):
        fetch(delimited(server.address("/gone", 404)))
    assert stored.read_bytes() == b"old"
    fetch(delimited(server.address("/shapes", CONTENT)))


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    entry = made_up.entry(tmp_path / "expected.csv")
    with pytest.raises(DatasetError, match=r"file.*cannot be made"):
        _download.fetch(entry, tmp_path / "file" / "cache", visible=False)


def test_progress_is_shown_on_standard_error(server, tmp_path, waits, capsys):
    source = delimited(server.address("/shapes", 500, CONTENT))
    entry = made_up.entry(tmp_path / "expected.csv", source)
    _download.fetch(entry, tmp_path / "cache")
    told = capsys.readouterr()
    assert told.out == ""
    assert "shapes" in told.err
    assert f"{len(CONTENT)}/{len(CONTENT)} bytes" in told.err
