"""Runs on the library that KKC_LIBRARY names. Every device present is visited; --device narrows the choice."""
import kkc
import pytest


def pytest_addoption(parser):
    parser.addoption("--device", default="", help="devices, separated by commas; default: all that are present")


def pytest_generate_tests(metafunc):
    if "ctx" in metafunc.fixturenames:
        wanted = [d for d in metafunc.config.getoption("--device").split(",") if d]
        present = wanted or [d for d in ("serial", "openmp", "cuda", "hip") if kkc.device_count(d) > 0]
        metafunc.parametrize("ctx", present, indirect=True)


@pytest.fixture
def ctx(request):
    with kkc.Context(request.param) as context:
        yield context


@pytest.fixture
def host():
    with kkc.Context("serial") as context:
        yield context
