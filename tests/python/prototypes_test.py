"""The module's constants and prototypes against include/kkc.h."""
import ctypes
import pathlib
import re

import kkc
import pytest
from kkc import _capi, _library

HEADER = re.sub(r"/\*.*?\*/", "", (pathlib.Path(__file__).parents[2] / "include" / "kkc.h").read_text(), flags=re.S)
HANDLES = set(re.findall(r"typedef struct \w+ (kkc_\w+_t);", HEADER))
ENUMS = set(re.findall(r"typedef int32_t (kkc_\w+_t);", HEADER))
FUNCTIONS = {name: (" ".join(result.split()), " ".join(arguments.split()))
             for result, name, arguments in re.findall(r"KKC_API\s+((?:const\s+)?\w+\s*\*?)\s*(kkc_\w+)\s*\((.*?)\);", HEADER, re.S)}
NUMBERS = {"int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "size_t": ctypes.c_size_t, "double": ctypes.c_double}


def expected(text):
    if text == "const char *":
        return ctypes.c_char_p
    match = re.fullmatch(r"(const )?(\w+) ?(\**) ?\w*", text)
    const, kind, stars = match[1], match[2], len(match[3])
    if kind == "kkc_alloc_fn":
        return _capi.ALLOC_FN
    if kind == "kkc_free_fn":
        return _capi.FREE_FN
    if kind == "kkc_preconditioner_fn":
        return _capi.PRECONDITIONER_FN
    if kind in HANDLES or kind == "void":
        return {1: ctypes.c_void_p, 2: ctypes.POINTER(ctypes.c_void_p)}[stars]
    if kind == "char":
        if stars == 2:
            return ctypes.POINTER(ctypes.c_char_p)
        return ctypes.c_char_p if const else ctypes.c_void_p
    number = ctypes.c_int32 if kind in ENUMS else NUMBERS[kind]
    return ctypes.POINTER(number) if stars else number


def test_header_was_read():
    assert len(FUNCTIONS) > 50


def test_every_function_has_a_prototype():
    assert set(_capi.PROTOTYPES) == set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_prototype(name):
    result, arguments = FUNCTIONS[name]
    wanted = [] if arguments == "void" else [expected(a.strip()) for a in arguments.split(",")]
    assert _capi.PROTOTYPES[name] == (expected(result), wanted)


def test_constants():
    header = {n: int(v) for n, v in re.findall(r"(KKC_[A-Z0-9_]+) = (-?\d+)", HEADER)}
    module = {n: v for n, v in vars(_capi).items() if n.startswith("KKC_")}
    assert module == header


def test_library_has_the_version_of_the_package():
    assert ".".join(map(str, kkc.version())) == kkc.__version__
    assert _library.SONAME.endswith(".so.%d.%d" % kkc.version()[:2])


@pytest.mark.parametrize("flags, levels", [
    ("fpu sse2", []),
    ("cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3", ["x86-64-v2"]),
    ("cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave", ["x86-64-v3", "x86-64-v2"]),
])
def test_cpu_levels(flags, levels):
    assert _library.cpu_levels(f"processor: 0\nflags\t\t: {flags}\n") == levels


def test_library_of_the_best_level_comes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(_library, "cpu_levels", lambda: ["x86-64-v3", "x86-64-v2"])
    for folder in ("glibc-hwcaps/x86-64-v2", "glibc-hwcaps/x86-64-v4", "."):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / _library.SONAME).touch()
    found = [str(p.relative_to(tmp_path).parent) for p in _library.candidates(tmp_path)]
    assert found == ["glibc-hwcaps/x86-64-v2", "."]


def test_missing_library_says_where_it_was_sought(monkeypatch, tmp_path):
    monkeypatch.setenv("KKC_LIBRARY", str(tmp_path / "nowhere.so"))
    with pytest.raises(ImportError, match="nowhere.so"):
        _library._load()
