"""Finds libkkc.so and loads it once."""
from __future__ import annotations

import ctypes
import os
import pathlib
import threading

from ._capi import PROTOTYPES
from ._failure import Error, Failed, Refused

SONAME = "libkkc.so.0.1"

# Feature flags of /proc/cpuinfo that each x86-64 level needs beyond the one before.
_LEVELS = {
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}

_lock = threading.Lock()
_loaded: ctypes.CDLL | None = None


def cpu_levels(cpuinfo: str | None = None) -> list[str]:
    """The glibc-hwcaps folders this machine can use, best first. Loading by path bypasses glibc's own choice."""
    if cpuinfo is None:
        try:
            cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
        except OSError:
            return []
    flags: set[str] = set()
    for line in cpuinfo.splitlines():
        if line.startswith("flags"):
            flags = set(line.split(":", 1)[1].split())
            break
    levels: list[str] = []
    for level, needed in _LEVELS.items():
        if not needed <= flags:
            break
        levels.insert(0, level)
    return levels


def candidates(folder: pathlib.Path) -> list[pathlib.Path]:
    """Where a folder of libraries may hold libkkc for this CPU, best first."""
    folders = [folder / "glibc-hwcaps" / level for level in cpu_levels()] + [folder]
    return [f / name for f in folders for name in (SONAME, "libkkc.so") if (f / name).exists()]


def _places() -> list[str]:
    wanted = os.environ.get("KKC_LIBRARY")
    if wanted:
        path = pathlib.Path(wanted)
        return [str(p) for p in candidates(path)] if path.is_dir() else [wanted]
    package = pathlib.Path(__file__).resolve().parent
    beside = [str(p) for folder in (package, package / "lib", package.parent / "lib") for p in candidates(folder)]
    return beside + [SONAME, "libkkc.so"]


def _load() -> ctypes.CDLL:
    tried = []
    for place in _places():
        try:
            library = ctypes.CDLL(place)
        except OSError as error:
            tried.append(str(error))
            continue
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(library, name, None)
            if function is None:
                raise ImportError(f"{place} has no {name}: it is another version than this package")
            function.restype, function.argtypes = result, arguments
        return library
    reasons = "; ".join(tried) or "KKC_LIBRARY names a folder without libkkc.so"
    raise ImportError(f"libkkc was not found; set KKC_LIBRARY to its path or folder ({reasons})")


def capi() -> ctypes.CDLL:
    """The library with the prototypes of every function of kkc.h; loaded on first use."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load()
    return _loaded


def failure(status: int) -> Error:
    """The exception for this thread's last failing call."""
    library = capi()
    name = library.kkc_status_name(status).decode()
    sentence = library.kkc_last_error().decode(errors="replace")
    return (Refused if status < 100 else Failed)(status, name, sentence)


def call(name: str, *arguments: object) -> None:
    """Calls a function that returns a status, and raises unless it is success."""
    try:
        status = getattr(_loaded or capi(), name)(*arguments)
    except ctypes.ArgumentError as error:  # a closed object, or an argument of another type
        raise ValueError(f"{name}: {error}") from None
    if status != 0:
        raise failure(status)
