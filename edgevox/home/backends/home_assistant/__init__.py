"""Home Assistant backend."""

from __future__ import annotations

from edgevox.home.backends.home_assistant.backend import HomeAssistantHome
from edgevox.home.backends.home_assistant.connection import NotHomeAssistant, Unreachable, WrongToken, check_token

__all__ = ["HomeAssistantHome", "NotHomeAssistant", "Unreachable", "WrongToken", "check_token"]
