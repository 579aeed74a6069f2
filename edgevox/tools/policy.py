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
from edgevox.core.languages import reply_language, say
from edgevox.core.turn import EVERYTHING, LOCAL, Caller
from edgevox.core.types import ToolCall
from edgevox.core.words import word_set
from edgevox.tools.calls import ResolvedCall
from edgevox.tools.sanitize import sanitize_tool_output
from edgevox.tools.tool import ConfirmLevel, Resolution, Target, Tool

CONFIRM = "confirm"
"""The permission to confirm the calls of another caller."""
VOICE = "voice"
"""The permission to hold voice sessions: together with `confirm` it stands for a person."""
LOCKS = "home.locks"
"""The permission to act on what secures the house, beside that of the tool: a lock, an alarm, a garage door, a gate."""

__all__ = ["EVERYTHING", "LOCAL", "Caller"]

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
_RISKY_ENTITY_WORDS = word_set(
    "lock locks deadbolt latch bolt strike opener door doors garage gate gates alarm siren safe unlock disarm "
    "tür haustür tor garagentor schloss alarmanlage porte portail serrure alarme puerta cerradura alarma porta "
    "cancello serratura allarme deur slot poort"
)
# An id is older than the name: the switch "porch light" may have been installed as `switch.front_door`.
_HARMLESS_WORDS = word_set(
    "light lights lamp lamps led camera sensor motion bell doorbell chime heater fan plug outlet"
)
# Only the name shows what a relay switches, what a button or a script does and what a cover without a class is.
_RELAYS = frozenset({"switch", "input_boolean", "select", "input_select"})
_SCRIPTS = frozenset({"script", "scene", "automation", "button", "input_button"})
_COVERINGS = word_set("blind blinds curtain curtains shade shades shutter shutters awning drapes screen tilt")
_UNCLASSED = frozenset({"cover.", "cover.shutter", "valve."})


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
        """The scopes that a call with these targets needs; a tool without known targets has no locks."""
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
    """Whether a target secures the house, judged by its kind, or by its names where the kind does not say."""
    exact, domain = f"{target.domain}.{target.device_class}", target.domain
    if target.is_unknown or exact in _SAFETY_TARGETS or domain in _SAFETY_TARGETS:
        return True
    names = [_words(name) for name in (target.name, *target.aliases)]
    if _HARMLESS_WORDS.isdisjoint(names[0]):
        names.append(_words(target.id.partition(".")[2]))
    return any(_names_securing(domain, exact, words) for words in names)


def _names_securing(domain: str, exact: str, words: Sequence[str]) -> bool:
    """Whether a name is that of something that secures the house, for a kind that does not say."""
    last = next((word for word in reversed(words) if not word.isdecimal()), "")
    if domain in _RELAYS:
        return last in _RISKY_ENTITY_WORDS
    if exact in _UNCLASSED:
        return last not in _COVERINGS and not (_RISKY_ENTITY_WORDS | {"gas"}).isdisjoint(words)
    return domain in _SCRIPTS and not (_RISKY_TOOL_WORDS | _RISKY_ENTITY_WORDS).isdisjoint(words)


def secures_more(now: Sequence[Target] | None, before: Sequence[Target] | None) -> bool:
    """Whether a call would act on something that secures the house and was not among its targets before."""
    known = {(target.domain, target.id, target.name) for target in before or ()}
    return any((it.domain, it.id, it.name) not in known for it in now or () if _is_securing(it))


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

    def is_own_call(self, by: Caller) -> bool:
        """Whether `by` made the call itself. A command for later is a person's own on a page, which has voice too."""
        return by.name == self.origin.name and not (self.origin.is_scheduled and by.may(VOICE))


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

    def get(self, token: str) -> PendingConfirmation | None:
        return self._waiting.get(token)

    def take(self, token: str, call: ToolCall, *, by: Caller, channel: Channel) -> PendingConfirmation:
        """Use a confirmation up. Raises ToolDenied; a caller without permission does not use it up."""
        pending = self._waiting.get(token)
        if pending is None:
            raise ToolDenied("nothing is waiting for this confirmation, or it was used already")
        if channel == "api" and pending.is_own_call(by):
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
    return sanitize_tool_output(say("did_you_say", reply_language(), text=_unpunctuated(transcript)))


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
