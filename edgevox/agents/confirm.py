"""Asking a person before something is done: what the host provides, and the answer it brings."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from edgevox.tools.confirmation import USER_SAID_NO, Channel, PendingConfirmation
from edgevox.tools.scopes import LOCAL, Caller
from edgevox.turn import Turn


@dataclass(frozen=True, slots=True)
class Agreement:
    """The answer to a request for confirmation: who gave it, how, and why where it is no."""

    granted: bool
    by: Caller = LOCAL
    channel: Channel = "voice"
    why: str = USER_SAID_NO


class Confirm(Protocol):
    """Asks a person. The host provides it; the model has no part in it."""

    def __call__(self, pending: PendingConfirmation, turn: Turn, /) -> Awaitable[Agreement]: ...


async def nobody_to_ask(_pending: PendingConfirmation, _turn: Turn) -> Agreement:
    """Where no person can be asked, the answer is no."""
    return Agreement(granted=False, why="nobody could be asked")
