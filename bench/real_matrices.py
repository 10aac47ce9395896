#!/usr/bin/env python3
"""Turns public problems into matrices that can be factored, for kkc_bench.

    bench/real_matrices.py FOLDER FILE...

.m: a power grid of MATPOWER, as NAME_ybus (admittances) and NAME_jac (the Jacobian of its power flow); .mat: a
quadratic program P, A of the Maros and Meszaros set, as NAME_kkt (its rows of more than one entry; P + I and -I on the
diagonal), or a matrix A of pyamg's examples; .graph: METIS; .mtx: as it is, but of one that is not square NAME_kkt
(I and -I on the diagonal) and NAME_aat; no suffix: triplets "i j a" of GraphBLAS's tests. Each gets a full diagonal that dominates its rows. Needs numpy and scipy.
"""
import pathlib
import re
import sys

import numpy as np
import scipy.io
import scipy.sparse as sp


def dominant(A):
    A = sp.csr_matrix(A, dtype=float)
    A.sum_duplicates()
    A.data[~np.isfinite(A.data) | (A.data == 0)] = 1
    off = A - sp.diags(A.diagonal())
    off.eliminate_zeros()
    return off + sp.diags(1.1 * np.maximum(np.asarray(abs(off).sum(axis=1)).ravel(), 1e-3) + 0.1)


def with_multipliers(P, A):
    return sp.bmat([[P, A.T], [A, -sp.eye(A.shape[0])]])


def power_grid(path):
    def table(name):
        text = re.search(rf"mpc\.{name}\s*=\s*\[(.*?)\];", path.read_text(), re.S).group(1)
        lines = [line.split("%")[0].strip().rstrip(";") for line in text.splitlines()]
        return np.array([[float(x) for x in line.split()[:4]] for line in lines if line])

    bus, branch = table("bus"), table("branch")
    number = {int(name): i for i, name in enumerate(bus[:, 0])}
    n = len(number)
    i, j = (np.array([number[int(name)] for name in branch[:, c]]) for c in (0, 1))
    y = -1 / np.maximum(abs(branch[:, 3]), 1e-4)
    Y = sp.csr_matrix((np.r_[y, y], (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    Y = Y + sp.diags(0.1 - np.asarray(Y.sum(axis=1)).ravel())
    # Angles of all buses but the reference, voltages of those that have no generator.
    kept = np.r_[np.flatnonzero(bus[:, 1] != 3), n + np.flatnonzero(bus[:, 1] < 2)]
    return {"ybus": Y, "jac": sp.bmat([[Y, 0.3 * Y], [0.3 * Y, Y]]).tocsr()[kept][:, kept]}


def graph(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    n = int(lines[0].split()[0])
    rows = [[int(word) - 1 for word in line.split()] for line in lines[1 : n + 1]]
    i = np.repeat(np.arange(n), [len(row) for row in rows])
    return sp.csr_matrix((-np.ones(len(i)), (i, np.concatenate(rows))), shape=(n, n))


def matlab(path):
    found = scipy.io.loadmat(path)
    if "P" not in found:
        return {"": found["A"].real}
    P, A = sp.csc_matrix(found["P"]), sp.csr_matrix(found["A"])
    return {"kkt": with_multipliers(P + sp.eye(P.shape[0]), A[np.diff(A.indptr) > 1])}


def matrix_market(path):
    A = sp.csr_matrix(scipy.io.mmread(path))
    if A.shape[0] == A.shape[1]:
        return {"": A}
    return {"kkt": with_multipliers(sp.eye(A.shape[1]), A), "aat": A @ A.T}


def triplets(path):
    i, j, a = np.loadtxt(path, unpack=True)
    return sp.csr_matrix((a, (i.astype(int), j.astype(int))), shape=(int(max(i.max(), j.max())) + 1,) * 2)


def matrices(path):
    if not path.suffix:
        return {"": triplets(path)}
    if path.suffix == ".m":
        return power_grid(path)
    if path.suffix == ".graph":
        return {"": graph(path)}
    return matlab(path) if path.suffix == ".mat" else matrix_market(path)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for path in map(pathlib.Path, sys.argv[2:]):
        for kind, A in matrices(path).items():
            name = f"{path.stem}_{kind}" if kind else path.stem
            scipy.io.mmwrite(folder / f"{name}.mtx", dominant(A), precision=4)


if __name__ == "__main__":
    main()
