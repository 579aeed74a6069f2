"""Keeps the code of the alarm panel: typed or said once, then used for every arming and disarming that needs it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from edgevox.config.secrets import read_secret, write_secret
from edgevox.core.errors import ConfigError
from edgevox.home.backends.wrapper import HomeWrapper
from edgevox.home.entities import Action, ConnectedHome, Entity, HomeError

CODE_FILE = "alarm.code"
_PANEL = "alarm_control_panel"


class HomeWithAlarmCode(HomeWrapper):
    """Adds the kept code to actions on alarm panels, and keeps a code that a panel has accepted."""

    def __init__(self, home: ConnectedHome, path: Path) -> None:
        super().__init__(home)
        self._path = path

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError."""
        if not action.targets or any(target.domain != _PANEL for target in action.targets):
            return await self.home.apply(action)
        given = action.values.get("code")
        done = await self.home.apply(await asyncio.to_thread(self._with_code, action))
        if given and done:
            await asyncio.to_thread(self._keep, str(given))
        return done

    def _with_code(self, action: Action) -> Action:
        """The action with the kept code. Raises HomeError for a file that cannot be used."""
        if action.values.get("code"):
            return action
        try:
            code = read_secret(self._path, "say the code once more")
        except ConfigError as error:
            raise HomeError(f"{error.message}: {error.hint}") from None
        if code is None:
            return action
        return replace(action, values={**action.values, "code": code.reveal()})

    def _keep(self, code: str) -> None:
        """Raises HomeError."""
        try:
            write_secret(self._path, code)
        except ConfigError as error:
            raise HomeError(f"It is done, but I cannot keep the code: {error.hint}") from None
