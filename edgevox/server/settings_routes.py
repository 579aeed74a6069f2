"""The routes for the settings that may be changed from a page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydantic import RootModel, ValidationError
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgevox.server.access import Access
from edgevox.server.errors import ApiError, invalid
from edgevox.server.surroundings import Surroundings
from edgevox.server.wire import read_json
from edgevox.settings import Settings
from edgevox.settings.catalogue import Setting, sections
from edgevox.settings.safe_changes import keep_changes, safe_settings, value_of, why_not
from edgevox.types import JsonObject

SETTINGS = "settings"
"""The permission to see and change them."""


class SettingsBody(RootModel[dict[str, bool | int | float | str]]):
    """New values by the names of the settings."""


class SettingsRoutes:
    """`reload` lets the assistant live by what is in the file; without it that waits for the next start."""

    def __init__(
        self, around: Surroundings | None, access: Access, reload: Callable[[], None] | None = None
    ) -> None:
        self._around = around
        self._access = access
        self._reload = reload

    async def list(self, request: Request) -> Response:
        """GET /v1/settings."""
        self._access.actor(request, SETTINGS)
        settings = self._served().settings
        return JSONResponse(
            {"object": "list", "data": [_told(setting, settings) for setting in safe_settings()]}
        )

    async def change(self, request: Request) -> Response:
        """PATCH /v1/settings."""
        self._access.actor(request, SETTINGS)
        around = self._served()
        try:
            changes = SettingsBody.model_validate(await read_json(request), strict=True).root
        except ValidationError:
            raise invalid("the body has a value for each name of a setting") from None
        if not changes:
            raise invalid("there is nothing to change")
        try:
            await asyncio.to_thread(keep_changes, around.settings, around.folders, changes)
        except ValueError as error:
            raise invalid(str(error)) from None
        told = {"saved": sorted(changes), "in_force": "soon" if self._reload else "restart"}
        # The answer first: to reload ends this server, and begins another.
        return JSONResponse(told, background=BackgroundTask(self._live_by_it))

    async def _live_by_it(self) -> None:
        # A coroutine, so that it runs in the assistant's loop and not on a thread.
        if self._reload is not None:
            self._reload()

    def _served(self) -> Surroundings:
        if self._around is None:
            raise ApiError(404, "not_served", "this server has no settings to show")
        return self._around


def _told(setting: Setting, settings: Settings) -> JsonObject:
    reason = why_not(settings, setting.name)
    source = settings.sources.get(setting.name)
    return {
        "name": setting.name,
        "section": sections()[setting.section],
        "description": setting.description,
        "expected": setting.expected,
        "value": value_of(settings, setting.name),
        "default": setting.default,
        "source": str(source) if source else "default",
        "schema": setting.schema,
        "is_changeable": not reason,
        "why_not": reason,
    }
