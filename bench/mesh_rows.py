#!/usr/bin/env python3
"""Writes matrices of meshes that are no grids, for kkc_bench.

    bench/mesh_rows.py FOLDER

Points lie anywhere in a box, numbered cell by cell, or in no order, and meet those within a radius; every unknown of a
point meets all of theirs. solid: 20 000 points of 3 unknowns, 18 neighbours in the mean; wing: 60 000 of 3, 12; shell:
15 000 of 6 in a thin plate; protein: 36 000 of one, 100; loose: 110 000 of one, 20, in no order; small: 13 500 of one,
23, in no order. blocks: 40 dense blocks of 150.
"""
import gzip
import pathlib
import sys

import numpy as np


def near(points, radius):
    """All pairs (i, j) within the radius, each both ways, and (i, i)."""
    cell = np.floor(points / radius).astype(np.int64)
    extent = cell.max(axis=0) + 3
    key = ((cell[:, 0] + 1) * extent[1] + cell[:, 1] + 1) * extent[2] + cell[:, 2] + 1
    order = np.argsort(key, kind="stable")
    points, key = points[order], key[order]
    found = []
    for x in (-1, 0, 1):
        for y in (-1, 0, 1):
            other = key + (x * extent[1] + y) * extent[2]
            first = np.searchsorted(key, other - 1)
            count = np.searchsorted(key, other + 1, side="right") - first
            i = np.repeat(np.arange(len(key)), count)
            j = np.arange(len(i)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
            close = ((points[i] - points[j]) ** 2).sum(axis=1) < radius**2
            found.append((i[close], j[close]))
    return np.concatenate([i for i, _ in found]), np.concatenate([j for _, j in found])


def mesh(random, count, unknowns, neighbours, height=1.0, ordered=True):
    volume = neighbours / count * height
    radius = np.cbrt(volume * 3 / (4 * np.pi)) if height > 0.1 else np.sqrt(neighbours / count / np.pi)
    i, j = near(random.random((count, 3)) * (1, 1, height), radius)
    if not ordered:
        number = random.permutation(count)
        i, j = number[i], number[j]
    u, v = np.meshgrid(np.arange(unknowns), np.arange(unknowns))
    return (i[:, None] * unknowns + u.ravel()).ravel(), (j[:, None] * unknowns + v.ravel()).ravel()


def blocks(_):
    i, j = np.meshgrid(np.arange(150), np.arange(150))
    at = 150 * np.arange(40)[:, None]
    return (at + i.ravel()).ravel(), (at + j.ravel()).ravel()


def write(folder, name, i, j):
    lower = i >= j
    i, j = i[lower], j[lower]
    order = np.lexsort((j, i))
    n = i.max() + 1
    with gzip.open(folder / f"{name}.mtx.gz", "wt") as file:
        file.write(f"%%MatrixMarket matrix coordinate pattern symmetric\n{n} {n} {len(i)}\n")
        np.savetxt(file, np.column_stack((i[order] + 1, j[order] + 1)), fmt="%d")


if len(sys.argv) != 2:
    sys.exit(__doc__)
made = {
    "solid": lambda r: mesh(r, 20_000, 3, 20),
    "wing": lambda r: mesh(r, 60_000, 3, 13),
    "shell": lambda r: mesh(r, 15_000, 6, 8, height=0.002),
    "protein": lambda r: mesh(r, 36_000, 1, 118),
    "loose": lambda r: mesh(r, 110_000, 1, 22, ordered=False),
    "small": lambda r: mesh(r, 13_500, 1, 26, ordered=False),
    "blocks": blocks,
}
for name, make in made.items():
    write(pathlib.Path(sys.argv[1]), name, *make(np.random.default_rng(7)))
