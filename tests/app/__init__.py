"""Tests of edgevox.app."""

from __future__ import annotations
