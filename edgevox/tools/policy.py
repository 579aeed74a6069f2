"""Decides which calls need a confirmation and which callers may give it; holds the pending confirmations.

The host holds a confirmation, not the model: it is bound to one resolved call, can be used once, by another client
than the one that made the call, and expires.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from edgevox.core.errors import ToolDenied
from edgevox.core.types import ToolCall
from edgevox.core.words import word_set
from edgevox.tools.calls import ResolvedCall
from edgevox.tools.sanitize import sanitize_tool_output
from edgevox.tools.tool import ConfirmLevel, Resolution, Target, Tool

EVERYTHING = "*"
CONFIRM = "confirm"
"""The permission to confirm the calls of another caller."""
LOCKS = "home.locks"
"""The permission to act on what secures the house, beside that of the tool: a lock, an alarm, a garage door, a gate."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The origin of a call and its scopes: `read` queries, `act` changes; a tool may need its own.

    A scope may end in `.*` for every scope below it; `*` alone is every scope.
    """

    name: str
    scopes: frozenset[str] = frozenset()

    def may(self, scope: str) -> bool:
        if EVERYTHING in self.scopes or scope in self.scopes:
            return True
        parts = scope.split(".")
        return any(".".join((*parts[:end], "*")) in self.scopes for end in range(1, len(parts)))


LOCAL = Caller("local", frozenset({EVERYTHING}))
"""The microphone and the keyboard of this machine."""


Channel: TypeAlias = Literal["voice", "keyboard", "api"]

CONFIRM_WITHIN_S = 30.0
USER_SAID_NO = "the user said no"
_MAX_PENDING = 32
_MAX_QUESTION_VALUE_CHARS = 60
_LEVELS: tuple[ConfirmLevel, ...] = get_args(ConfirmLevel)

# Safety-relevant targets in Home Assistant's terms: a domain, or a domain and a device class.
_SAFETY_TARGETS = word_set("lock alarm_control_panel siren cover.door cover.garage cover.gate valve.gas")
# A tool without `confirm` is judged by its name too: buying, deleting, sending, opening.
_RISKY_TOOL_WORDS = word_set(
    "buy purchase order pay checkout transfer subscribe delete erase wipe purge format uninstall send email mail sms "
    "post publish lock unlock arm disarm alarm door garage gate"
)
# The same for the name of an entity of unknown kind: the last word says what it is.
_RISKY_ENTITY_WORDS = word_set("lock locks door doors garage gate gates alarm siren safe")
# Only the name shows what a relay switches and what a script does.
_RELAYS = frozenset({"switch", "input_boolean"})
_SCRIPTS = frozenset({"script", "scene", "automation", "button", "input_button"})


@dataclass(frozen=True, slots=True)
class ConfirmationPolicy:
    """Confirmation levels. `tools` and `domains` are the user's settings and take precedence.

    The keys of `domains` are `lock` or `cover.garage`. `otherwise` applies to all other tools with side effects.
    """

    tools: Mapping[str, ConfirmLevel] = field(default_factory=dict)
    domains: Mapping[str, ConfirmLevel] = field(default_factory=dict)
    otherwise: ConfirmLevel = "never"

    def level(self, tool: Tool, targets: Sequence[Target] | None) -> ConfirmLevel:
        """The level of a call with these targets; None (unknown targets) needs at least a spoken yes."""
        if tool.name in self.tools:
            return self.tools[tool.name]
        level = tool.confirm or "never"
        if not tool.side_effects:
            return level
        if tool.confirm is None:
            is_risky = not _RISKY_TOOL_WORDS.isdisjoint(_words(tool.name))
            level = stricter(self.otherwise, "voice" if is_risky else "never")
        if targets is None:
            return stricter(level, "voice")
        for target in targets:
            level = stricter(level, self._target_level(target))
        return level

    def needed_scopes(self, tool: Tool, targets: Sequence[Target] | None) -> tuple[str, ...]:
        """The scopes that a call with these targets needs; unknown targets may be anything but locks."""
        secures = tool.side_effects and any(map(_is_securing, targets or ()))
        return (tool.needed_scope, LOCKS) if secures else (tool.needed_scope,)

    def _target_level(self, target: Target) -> ConfirmLevel:
        exact, domain = f"{target.domain}.{target.device_class}", target.domain
        if exact in self.domains:
            return self.domains[exact]
        # A setting for all covers does not relax the garage; that needs `cover.garage`.
        if domain in self.domains:
            return stricter(self.domains[domain], "voice" if exact in _SAFETY_TARGETS else "never")
        return "voice" if _is_securing(target) else "never"


def _is_securing(target: Target) -> bool:
    """Whether a target secures the house, judged by its kind, or by its name where the kind does not say."""
    exact, domain = f"{target.domain}.{target.device_class}", target.domain
    words = _words(target.name)
    opens = domain in _RELAYS and not _RISKY_ENTITY_WORDS.isdisjoint(words[-1:])
    hides = domain in _SCRIPTS and not (_RISKY_TOOL_WORDS | _RISKY_ENTITY_WORDS).isdisjoint(words)
    return exact in _SAFETY_TARGETS or domain in _SAFETY_TARGETS or opens or hides


@dataclass(frozen=True, slots=True)
class PendingConfirmation:
    """A resolved call of `origin` that waits for a yes of this level."""

    token: str
    resolved: ResolvedCall
    question: str
    level: ConfirmLevel
    origin: Caller
    turn_id: str
    expires_s: float

    @property
    def call(self) -> ToolCall:
        return self.resolved.call


class PendingConfirmations:
    """The pending confirmations, in memory only; beyond the maximum the oldest is dropped."""

    def __init__(self, *, within_s: float = CONFIRM_WITHIN_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._within_s = within_s
        self._clock = clock
        self._waiting: dict[str, PendingConfirmation] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def ask(
        self, resolved: ResolvedCall, *, question: str, level: ConfirmLevel, origin: Caller, turn_id: str = ""
    ) -> PendingConfirmation:
        """Add a call that waits for a yes to `question`."""
        now_s = self._clock()
        pending = PendingConfirmation(
            secrets.token_urlsafe(16), resolved, question, level, origin, turn_id, now_s + self._within_s
        )
        waiting = [one for one in self._waiting.values() if now_s < one.expires_s]
        self._waiting = {one.token: one for one in (*waiting[1 - _MAX_PENDING :], pending)}
        return pending

    def take(self, token: str, call: ToolCall, *, by: Caller, channel: Channel) -> PendingConfirmation:
        """Use a confirmation up. Raises ToolDenied; a caller without permission does not use it up."""
        pending = self._waiting.get(token)
        if pending is None:
            raise ToolDenied("nothing is waiting for this confirmation, or it was used already")
        if channel == "api" and by.name == pending.origin.name:
            raise ToolDenied("a caller cannot confirm its own call")
        if not by.may(CONFIRM):
            raise ToolDenied(f"{by.name} may not confirm calls")
        if pending.level == "screen" and channel == "voice":
            raise ToolDenied("this needs more than a spoken yes")
        del self._waiting[token]
        if self._clock() >= pending.expires_s:
            raise ToolDenied("the confirmation came too late")
        if call not in (pending.resolved.given, pending.resolved.call):
            raise ToolDenied("the call is not the one that was asked about")
        return pending

    def withdraw(self, token: str) -> None:
        """Drop a confirmation that was not given."""
        self._waiting.pop(token, None)


def confirmation_question_for(tool: Tool, resolution: Resolution) -> str:
    """The spoken question. Exceptions of the tool's own `question` are not caught."""
    arguments = resolution.arguments
    if resolution.question:
        return sanitize_tool_output(resolution.question)
    if tool.question is not None:
        return sanitize_tool_output(tool.question(arguments))
    values = ", ".join(_spoken(name, value) for name, value in arguments.items() if value is not None and value != "")
    return sanitize_tool_output(f"Shall I {tool.name.replace('_', ' ')}{': ' if values else ''}{values}?")


def low_confidence_question(transcript: str) -> str:
    """The question before acting on words that may have been misheard."""
    return sanitize_tool_output(f"Did you say: {_unpunctuated(transcript)}?")


def _spoken(name: str, value: object) -> str:
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"not {words}"
    text = _unpunctuated(str(value))[:_MAX_QUESTION_VALUE_CHARS]
    return text if isinstance(value, str) else f"{words} {text}"


def _unpunctuated(text: str) -> str:
    """A question inside a value would sound like part of ours."""
    return re.sub(r"[?!.\s]+", " ", text).strip()


def _words(name: str) -> list[str]:
    """`unlockDoor`, `unlock_door` and "Unlock door" have the same words."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", parted.casefold())


def stricter(one: ConfirmLevel, other: ConfirmLevel) -> ConfirmLevel:
    return max(one, other, key=_LEVELS.index)
