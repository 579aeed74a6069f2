"""Runs the native engines as asynchronous stages: in a supervised child process, or in a thread."""

from __future__ import annotations

from edgevox.engines.base import EngineLimits, HostedEngine, LocalEngine
from edgevox.engines.supervisor import SupervisedEngine

__all__ = ["EngineLimits", "HostedEngine", "LocalEngine", "SupervisedEngine"]
