"""Events as they go over the control socket, and back."""

from __future__ import annotations

import dataclasses

from edgevox import events
from edgevox.events import Event
from edgevox.types import JsonObject

_KINDS = {
    kind.__name__: kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, Event)
}


def note_of(event: Event) -> JsonObject:
    """The event as a JSON object. Its time is that of this machine's monotonic clock."""
    return {"event": type(event).__name__, **dataclasses.asdict(event)}


def event_of(note: JsonObject) -> Event | None:
    """The event in a note; None for one that this version does not know."""
    kind = _KINDS.get(str(note.get("event")))
    if kind is None:
        return None
    names = {field.name for field in dataclasses.fields(kind)}
    try:
        return kind(**{name: value for name, value in note.items() if name in names})
    except TypeError:  # a part of it is missing
        return None
