# SPDX-License-Identifier: BSD-3-Clause
"""A dataset that was made up, in the words of the registry, and a server for it."""

import gzip
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mrforest.experiments.datasets._registry import Entry, Source
from mrforest.experiments.datasets._table import column_checks, fingerprint, read

# What is stored, whatever the original looks like.
TABLE = """\
height,colour,name,target
1.5,red,a,yes
2,blue,b,no
,red,c,no
-0.25,,d,yes
4,blue,e,no
"""
COMMA_SEPARATED = """\
1.5, red, a, 1
2, blue, b, 0
?, red, c, 0
-0.25, ?, d, 1
4, blue, e, 0
"""
LABELS = {"1": "yes", "0": "no"}


def entry(path: Path, /, *sources: Source, **fields) -> Entry:
    """Write the stored table, and describe it."""
    path.write_text(TABLE)
    told = Entry(
        **{
            "name": "shapes",
            "table": "shapes",
            "title": "made up",
            "licence": "none",
            "columns": ("height", "colour", "name"),
            "categorical": ("colour", "name"),
            "drop": {"name": "one for each row"},
            "n_rows": 0,
            "n_features": 0,
            "classes": {},
            "fingerprint": "",
            "sources": sources,
            **fields,
        }
    )
    dataset = read(path, told)
    return replace(
        told,
        n_rows=len(dataset.y),
        n_features=dataset.X.shape[1],
        classes=Counter(dataset.y.tolist()),
        fingerprint=fingerprint(dataset),
        column_checks=tuple(column_checks(dataset)),
    )


def unpacked(path: Path) -> str:
    """Read the text of a stored table."""
    return gzip.decompress(path.read_bytes()).decode()


class Server(ThreadingHTTPServer):
    """Answers each path by the next of its answers, the last one for ever.

    An answer is the content, a status to fail with, or a function of the handler.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, list[bytes | int | Callable]] = {}
        self.asked: list[str] = []

    def address(self, path: str, *answers: bytes | int | Callable) -> str:
        self.answers[path] = list(answers)
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        answers = self.server.answers[self.path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(answer):
            answer(self)
        elif isinstance(answer, int):
            self.send_error(answer)
        else:
            send(self, answer, len(answer))

    def log_message(self, *_) -> None:
        """Keep the tests' output clean."""


def send(handler: BaseHTTPRequestHandler, content: bytes, announced: int) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(announced))
    handler.end_headers()
    handler.wfile.write(content)
