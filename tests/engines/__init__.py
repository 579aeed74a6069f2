"""Tests of the engine hosts: child processes, threads and Wyoming servers."""

from __future__ import annotations
