"""What cannot be said in a grammar."""

from __future__ import annotations


class Inexpressible(Exception):
    """A part of a schema that no grammar can hold a text to; it says which. Never leaves this package."""
