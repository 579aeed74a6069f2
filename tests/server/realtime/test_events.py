"""Every event of the official client is in the guide's tables, and they say what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

from openai.types.realtime import RealtimeClientEvent, RealtimeServerEvent

from edgevox.server.realtime.protocol import CLIENT_EVENTS, REFUSED_EVENTS, SERVER_EVENTS

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "realtime.md"


def documented(heading: str) -> dict[str, str]:
    """The events of a table, and what becomes of them."""
    table = GUIDE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([\w.]+)` \| ([\w ]+) \|", table, re.MULTILINE))


def names(union: Any) -> set[str]:
    """The types of the client's events."""
    (models, *_discriminator) = get_args(union)
    return {get_args(model.model_fields["type"].annotation)[0] for model in get_args(models)}


def test_the_table_of_client_events_is_complete_and_true() -> None:
    code = dict.fromkeys(CLIENT_EVENTS, "supported") | dict.fromkeys(REFUSED_EVENTS, "refused")
    assert documented("Events of the client") == code
    assert names(RealtimeClientEvent) == set(code)


def test_the_table_of_server_events_is_complete_and_true() -> None:
    table = documented("Events of the server")
    assert {name for name, what in table.items() if what == "sent"} == SERVER_EVENTS
    assert names(RealtimeServerEvent) == set(table)
