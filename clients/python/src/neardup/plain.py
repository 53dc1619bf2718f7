"""Texts of Python as PostgreSQL has them."""

from __future__ import annotations


def plain(text: str) -> str:
    """A text as PostgreSQL has it."""
    # It has neither NUL nor halves of characters: they are compared as a space and a question mark. What is written
    # comes from the file.
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", " ")
