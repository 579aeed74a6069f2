"""What can go wrong between us and Home Assistant, each as a sentence for the user.

HomeError
├ Unreachable        nobody answers there, or no longer
├ NotHomeAssistant   something else answers there
├ WrongToken         Home Assistant does not know the token
└ CommandFailed      Home Assistant answered a command with an error
"""

from __future__ import annotations

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.wording import brief, sentence

CANNOT_REACH = "I cannot reach Home Assistant right now."
# What a message raises that is not shaped as Home Assistant's are.
MISSHAPEN = (AttributeError, KeyError, TypeError, ValueError)
_RUN_SETUP = "run edgevox home setup"
# Codes of errors whose text is not meant for people.
_TECHNICAL = frozenset({"invalid_format", "unknown_error", "template_error", "id_reuse"})


class Unreachable(HomeError):
    """Nobody answers there, or no longer; it may be back at any moment."""

    code = "home_unreachable"


class NotHomeAssistant(HomeError):
    """Something answers there that is not Home Assistant."""

    code = "not_home_assistant"

    def __init__(self, where: str) -> None:
        super().__init__(f"What answers at {where} is not Home Assistant; {_RUN_SETUP}.", hint=_RUN_SETUP)


class WrongToken(HomeError):
    """Home Assistant does not know the token: asking again does not help."""

    code = "wrong_token"

    def __init__(self) -> None:
        super().__init__(f"Home Assistant does not accept the token; {_RUN_SETUP}.", hint=_RUN_SETUP)


class CommandFailed(HomeError):
    """Home Assistant answered a command with an error; `reason` is its code for it."""

    code = "home_command_failed"

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(_said(reason, text))
        self.reason = reason


def _said(reason: str, text: str) -> str:
    match reason:
        case "not_found" | "unknown_command" | "not_supported":
            return "This Home Assistant cannot do that."
        case "unauthorized":
            return "The user of my token may not do that in Home Assistant."
        case _ if reason in _TECHNICAL or not text.strip():
            return "Home Assistant could not do that."
        case _:
            return sentence(f"Home Assistant could not do that: {brief(text)}")
