"""Language models on other machines, as chat models: with the same parsers and the same tools."""

from edgevox.llm.remote.key import read_key
from edgevox.llm.remote.model import RemoteModel
from edgevox.llm.remote.wire import WIRE_FORMAT

__all__ = ["WIRE_FORMAT", "RemoteModel", "read_key"]
