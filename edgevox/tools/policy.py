"""Which calls need a person's confirmation, who may call and confirm what, and the pending confirmations.

The host holds a confirmation, not the model: it is bound to one call and a hash of its arguments, can be used
once, by another client than the one that made the call, and expires.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from edgevox.core.errors import ToolDenied
from edgevox.core.types import JsonObject, ToolCall
from edgevox.tools.arguments import fingerprint
from edgevox.tools.sanitize import sanitize_tool_output
from edgevox.tools.tool import ConfirmLevel, Target, Tool
from edgevox.tools.yes_no import decide_yes_no

__all__ = [
    "CONFIRM_WITHIN_S",
    "SAFETY",
    "Channel",
    "ConfirmationPolicy",
    "PendingConfirmation",
    "PendingConfirmations",
    "confirmation_question_for",
    "decide_yes_no",
    "low_confidence_question",
]


EVERYTHING = "*"
CONFIRM = "confirm"
"""The permission to say yes to what somebody else asked for."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `read` looks things up, `act` changes them; a tool may want its own scope (`home.locks`).

    A scope may end in `.*` for all below it; `*` alone is every scope.
    """

    name: str
    scopes: frozenset[str] = frozenset()

    def may(self, scope: str) -> bool:
        if EVERYTHING in self.scopes or scope in self.scopes:
            return True
        parts = scope.split(".")
        return any(".".join((*parts[:end], "*")) in self.scopes for end in range(1, len(parts)))


LOCAL = Caller("local", frozenset({EVERYTHING}))
"""Whoever is in the room: the microphone and the keyboard."""


Channel: TypeAlias = Literal["voice", "keyboard", "api"]

CONFIRM_WITHIN_S = 30.0
USER_SAID_NO = "the user said no"
_MAX_PENDING = 32
_MAX_QUESTION_VALUE_CHARS = 60
_LEVELS: tuple[ConfirmLevel, ...] = get_args(ConfirmLevel)

# What touches safety, in Home Assistant's words: a domain, or a domain and a device class.
SAFETY: Mapping[str, ConfirmLevel] = {
    "lock": "voice",
    "alarm_control_panel": "voice",
    "siren": "voice",
    "cover.door": "voice",
    "cover.garage": "voice",
    "cover.gate": "voice",
    "valve.gas": "voice",
}
# A tool that nobody described tells what it does by its name: buying, deleting, telling others, opening.
_RISKY_TOOL_WORDS = frozenset(
    {
        *("buy", "purchase", "order", "pay", "checkout", "transfer", "subscribe"),
        *("delete", "erase", "wipe", "purge", "format", "uninstall"),
        *("send", "email", "mail", "sms", "post", "publish"),
        *("lock", "unlock", "arm", "disarm", "alarm", "door", "garage", "gate"),
    }
)
# The same for the name of a device, where no tool says what the name stands for: its last word is what it is.
_RISKY_ENTITY_WORDS = frozenset({"lock", "locks", "door", "doors", "garage", "gate", "gates", "alarm", "siren", "safe"})
# What a relay switches, and what a script does, shows in its name only.
_RELAYS = frozenset({"switch", "input_boolean"})
_SCRIPTS = frozenset({"script", "scene", "automation", "button", "input_button"})


@dataclass(frozen=True, slots=True)
class ConfirmationPolicy:
    """What needs a yes. `tools` and `domains` are the user's settings and go before everything else.

    The keys of `domains` are `lock` or `cover.garage`. `otherwise` is for all other tools with side effects.
    """

    tools: Mapping[str, ConfirmLevel] = field(default_factory=dict)
    domains: Mapping[str, ConfirmLevel] = field(default_factory=dict)
    otherwise: ConfirmLevel = "never"

    def level(self, tool: Tool, arguments: JsonObject) -> ConfirmLevel:
        """What this call needs. What the tool's own `targets` raises goes through."""
        if tool.name in self.tools:
            return self.tools[tool.name]
        asked = tool.confirm or "never"
        if not tool.side_effects:
            return asked
        if tool.confirm is None:
            asked = _stricter(self.otherwise, "voice" if _is_risky_by_name(tool) else "never")
        for target in _targets(tool, arguments):
            asked = _stricter(asked, self._of_target(target))
        return asked

    def _of_target(self, target: Target) -> ConfirmLevel:
        exact, domain = f"{target.domain}.{target.device_class}", target.domain
        if exact in self.domains:
            return self.domains[exact]
        # Covers may be switched off as a whole; the garage has to be named for that.
        if domain in self.domains:
            return _stricter(self.domains[domain], SAFETY.get(exact, "never"))
        if exact in SAFETY or domain in SAFETY:
            return _stricter(SAFETY.get(exact, "never"), SAFETY.get(domain, "never"))
        words = _words(target.name)
        opens = domain in _RELAYS and not _RISKY_ENTITY_WORDS.isdisjoint(words[-1:])
        hides = domain in _SCRIPTS and not (_RISKY_TOOL_WORDS | _RISKY_ENTITY_WORDS).isdisjoint(words)
        return "voice" if opens or hides else "never"


@dataclass(frozen=True, slots=True)
class PendingConfirmation:
    """A call that waits for a yes. `origin` asked for it, and `level` says what kind of yes it needs."""

    token: str
    call: ToolCall
    arguments_sha256: str
    question: str
    level: ConfirmLevel
    origin: Caller
    turn_id: str
    expires_s: float


class PendingConfirmations:
    """The calls that wait, in memory only; the oldest makes room when there are many."""

    def __init__(self, *, within_s: float = CONFIRM_WITHIN_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._within_s = within_s
        self._clock = clock
        self._waiting: dict[str, PendingConfirmation] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def ask(
        self,
        call: ToolCall,
        arguments: Mapping[str, Any],
        *,
        question: str,
        level: ConfirmLevel,
        origin: Caller,
        turn_id: str = "",
    ) -> PendingConfirmation:
        """Have a call wait for a yes to `question`."""
        pending = PendingConfirmation(
            token=secrets.token_urlsafe(16),
            call=call,
            arguments_sha256=fingerprint(call.name, arguments),
            question=question,
            level=level,
            origin=origin,
            turn_id=turn_id,
            expires_s=self._clock() + self._within_s,
        )
        self._drop_expired()
        while len(self._waiting) >= _MAX_PENDING:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[pending.token] = pending
        return pending

    def take(
        self, token: str, name: str, arguments: Mapping[str, Any], *, by: Caller, channel: Channel
    ) -> PendingConfirmation:
        """Use a confirmation up. Raises ToolDenied, and whoever may not confirm does not use it up."""
        pending = self._waiting.get(token)
        if pending is None:
            raise ToolDenied("nothing is waiting for this confirmation, or it was used already")
        if channel == "api" and by.name == pending.origin.name:
            raise ToolDenied("whoever made a call cannot confirm it")
        if not by.may(CONFIRM):
            raise ToolDenied(f"{by.name} may not confirm calls")
        if pending.level == "screen" and channel == "voice":
            raise ToolDenied("this needs more than a spoken yes")
        del self._waiting[token]
        if self._clock() >= pending.expires_s:
            raise ToolDenied("the confirmation came too late")
        if pending.arguments_sha256 != fingerprint(name, arguments):
            raise ToolDenied("the call is not the one that was asked about")
        return pending

    def withdraw(self, token: str) -> None:
        """The answer was no, or none came."""
        self._waiting.pop(token, None)

    def _drop_expired(self) -> None:
        now_s = self._clock()
        for token in [token for token, one in self._waiting.items() if now_s >= one.expires_s]:
            del self._waiting[token]


def confirmation_question_for(tool: Tool, arguments: JsonObject) -> str:
    """The question as it is spoken. What the tool's own `question` raises goes through."""
    if tool.question is not None:
        return sanitize_tool_output(tool.question(arguments))
    values = ", ".join(_spoken(name, value) for name, value in arguments.items() if value is not None and value != "")
    return sanitize_tool_output(f"Shall I {tool.name.replace('_', ' ')}{': ' if values else ''}{values}?")


def low_confidence_question(heard: str) -> str:
    """The question before something is done for words that may have been misheard."""
    # A question inside a value would be heard as ours.
    words = re.sub(r"[?!.\s]+", " ", heard).strip()
    return sanitize_tool_output(f"Did you say: {words}?")


def _spoken(name: str, value: object) -> str:
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"not {words}"
    # A question inside a value would be heard as ours.
    text = re.sub(r"[?!.\s]+", " ", str(value)).strip()[:_MAX_QUESTION_VALUE_CHARS]
    return text if isinstance(value, str) else f"{words} {text}"


def _targets(tool: Tool, arguments: JsonObject) -> Sequence[Target]:
    """What a call would touch: the tool knows, or the arguments say so."""
    if tool.targets is not None:
        return tool.targets(arguments)
    domains = _texts(arguments.get("domain"))
    classes = _texts(arguments.get("device_class")) or [""]
    found = [Target(domain, device_class) for domain in domains for device_class in classes]
    # A class without a domain is a cover's: only covers have doors, garages and gates.
    found += [Target("cover", device_class) for device_class in classes if not domains]
    for name in ("name", "entity", "device", "item", "target"):
        # Nobody knows what it is: it is judged by its name, as a relay is.
        if isinstance(thing := arguments.get(name), str):
            found.append(Target("switch", name=thing))
    return found


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [member for member in value if isinstance(member, str)] if isinstance(value, list) else []


def _is_risky_by_name(tool: Tool) -> bool:
    return not _RISKY_TOOL_WORDS.isdisjoint(_words(tool.name))


def _words(name: str) -> list[str]:
    """`unlockDoor`, `unlock_door` and "Unlock door" have the same words."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", parted.casefold())


def _stricter(one: ConfirmLevel, other: ConfirmLevel) -> ConfirmLevel:
    return max(one, other, key=_LEVELS.index)
