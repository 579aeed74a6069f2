"""Home Assistant as a home."""

from edgevox.tools.home.home_assistant.connection import check_token
from edgevox.tools.home.home_assistant.failures import NotHomeAssistant, Unreachable, WrongToken
from edgevox.tools.home.home_assistant.home_assistant_home import HomeAssistantHome

__all__ = ["HomeAssistantHome", "NotHomeAssistant", "Unreachable", "WrongToken", "check_token"]
