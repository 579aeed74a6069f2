"""The assistant that runs already, as the commands that only steer it see it."""

from __future__ import annotations

from edgevox.cli.context import Context
from edgevox.control.client import request
from edgevox.control.protocol import Request
from edgevox.types import JsonObject


async def do(context: Context, wanted: Request) -> JsonObject:
    """Have it do something; how that ended. Raises NotRunning, and what went wrong there."""
    async with request(context.folders.runtime, wanted) as asking:
        return await asking.done()
