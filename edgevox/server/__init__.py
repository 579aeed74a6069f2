"""The assistant for other programs: an HTTP server that speaks as OpenAI's and Anthropic's do."""

from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant
from edgevox.server.serving import serving
from edgevox.server.tokens import Tokens

__all__ = ["Assistant", "Tokens", "create_app", "serving"]
