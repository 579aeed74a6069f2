"""Assembles the assistant from its parts, and runs it as a service.

Nothing is imported here: control commands must stay fast.
"""

from __future__ import annotations
