#!/usr/bin/env python3
"""Writes matrices with a few very long rows, as circuits and linear programs have them, for kkc_bench.

    bench/long_rows.py FOLDER

circuit: 170 000 rows of 5 entries near the diagonal, three rows and three columns of 60 000. last_row: an arrow of
100 000 rows with a band and scattered entries. wide: 600 rows of 1500 of 300 000 columns.
"""
import gzip
import pathlib
import sys

import numpy as np


def write(folder, name, rows, cols, i, j):
    at = np.unique(i.astype(np.int64) * cols + j)
    i, j = at // cols, at % cols
    with gzip.open(folder / f"{name}.mtx.gz", "wt") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} {len(at)}\n")
        for a, b in zip(i + 1, j + 1):
            file.write(f"{a} {b} {50 if a == b else 1}\n")


def circuit(random):
    n = 170_000
    near = np.repeat(np.arange(n), 4)
    i = [np.arange(n), near]
    j = [np.arange(n), np.clip(near + np.round(random.standard_normal(len(near)) * 300).astype(int), 0, n - 1)]
    long_rows = (1000, 50_000, 120_000)
    for row in long_rows:
        i.append(np.full(60_000, row))
        j.append(random.choice(n, 60_000, replace=False))
    for col in (3000, 70_000, 150_000):
        named = np.setdiff1d(random.choice(n, 60_000, replace=False), long_rows)
        i.append(named)
        j.append(np.full(len(named), col))
    return n, n, np.concatenate(i), np.concatenate(j)


def last_row(_):
    n = 100_000
    d = np.arange(n)
    i = np.concatenate([d, d[1:], d[:-1], d[::2], np.full(n, n - 1)])
    return n, n, i, np.concatenate([d, d[1:] - 1, d[:-1] + 1, (d[::2] * 7 + 3) % n, d])


def wide(random):
    i = np.repeat(np.arange(600), 1500)
    return 600, 300_000, i, random.integers(0, 300_000, len(i))


if len(sys.argv) != 2:
    sys.exit(__doc__)
for make in (circuit, last_row, wide):
    write(pathlib.Path(sys.argv[1]), make.__name__, *make(np.random.default_rng(5)))
