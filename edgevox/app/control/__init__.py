"""The control socket: commands talk to the running assistant over it."""

from __future__ import annotations
