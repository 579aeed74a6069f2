"""Language models on remote servers (OpenAI and Anthropic APIs), with the same tools as local ones."""

from __future__ import annotations

from edgevox.llm.remote.model import RemoteModel, read_key
from edgevox.llm.remote.wire import WIRE_FORMAT

__all__ = ["WIRE_FORMAT", "RemoteModel", "read_key"]
