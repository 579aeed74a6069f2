"""The web page at `/` and the routes that feed it."""

from __future__ import annotations
