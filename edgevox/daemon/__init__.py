"""The assistant put together: this package alone builds engines and wires them to each other."""

from __future__ import annotations

from edgevox.daemon.daemon import Daemon

__all__ = ["Daemon"]
