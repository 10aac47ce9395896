"""A status other than success becomes an exception."""
from __future__ import annotations


class Error(RuntimeError):
    """A call of the library that did not succeed."""

    def __init__(self, status: int, name: str, sentence: str):
        super().__init__(f"{name}: {sentence}")
        self.status = status
        self.name = name
        self.sentence = sentence


class Refused(Error):
    """Status 1 to 99: nothing was changed."""


class Failed(Error):
    """Status 100 and up: outputs are undefined, every object can still be closed."""
