"""An engine as the daemon has it: it is started, answers, and is closed, wherever it runs."""

from __future__ import annotations

from typing import Protocol

from edgevox.types import ReplyT_co, RequestT_contra, Stage


class Hosted(Stage[RequestT_contra, ReplyT_co], Protocol[RequestT_contra, ReplyT_co]):
    """A Stage with a beginning and an end."""

    @property
    def is_up(self) -> bool:
        """Whether it can be expected to answer now."""

    async def start(self) -> None:
        """Make it ready. Raises ModelError, EngineFailed and, for one on another machine, ConfigError."""

    async def close(self) -> None:
        """End it."""
