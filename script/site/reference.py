"""Reference pages of the site, made from the program itself: settings, commands, HTTP API and events."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from edgevox.cli.command import whole_parser
from edgevox.config.schema import PLUGINS, Setting, catalogue, sections
from edgevox.core import events
from edgevox.server.routes import ApiRoute, api_routes, document

_MOST_DEFAULT_CHARS = 60


def settings_page() -> str:
    """Every setting with its default, its values and its variable."""
    lines = [
        "# Settings",
        "",
        "Every key of `config.toml`. `edgevox config set KEY VALUE` changes one; the variable of `llm.threads` is",
        "`EDGEVOX_LLM__THREADS`. How values are combined, and from where: [settings](../guide/settings.md).",
    ]
    for section, title in {"": "The choice of the model.", **sections()}.items():
        lines += ["", f"## {section or 'top level'}", ""]
        if section == PLUGINS:
            lines.append(
                "A table `[plugins.NAME]` belongs to the plugin of that name ([plugins](../guide/plugins.md))."
            )
            continue
        lines += [title, "", "| key | default | values | meaning |", "|---|---|---|---|"]
        lines += [
            _row(_code(setting.name), _default(setting), setting.expected, setting.description)
            for setting in catalogue().values()
            if setting.section == section
        ]
    return "\n".join(lines)


def commands_page() -> str:
    """Every command with its arguments and options."""
    lines = [
        "# Commands",
        "",
        "Every command and option, as `edgevox COMMAND --help` prints them. By task: [commands](../guide/commands.md).",
    ]
    for name, summary, parser in _commands(whole_parser(), "edgevox"):
        lines += ["", f"## {name}", "", summary, "", "```text", _usage(parser), "```"]
        options = [
            action
            for action in parser._actions
            if not isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
        ]
        if options:
            lines += ["", "| argument | meaning |", "|---|---|"]
            lines += [_row(_code(_spelled(action)), (action.help or "") % vars(action)) for action in options]
    return "\n".join(lines)


def http_page() -> str:
    """Every route with its scope, its body and its answers."""
    routes = api_routes()
    schemas = document(routes)["components"]["schemas"]
    lines = [
        "# HTTP API",
        "",
        "Every route of `edgevox serve`; the server itself has the same as OpenAPI, at `/openapi.json`. Tokens, limits",
        "and what each option does: [server](../guide/server.md).",
        "",
        "| route | what it does | scope | without a token on this machine |",
        "|---|---|---|---|",
    ]
    lines += [
        _row(
            f"[{_title(route)}](#{_anchor(_title(route))})",
            route.summary,
            _code(route.scope),
            "yes" if route.allow_local else "no",
        )
        for route in routes
    ]
    for route in routes:
        lines += ["", f"## {_title(route)}", "", f"{route.summary}. Scope: `{route.scope}`.", ""]
        if route.query:
            lines += ["Query: " + ", ".join(f"`{name}`" for name in route.query) + ".", ""]
        if route.body is not None:
            lines += [f"Body: `{route.body_type}`.", "", "| field | type | |", "|---|---|---|"]
            lines += [_row(*cells) for cells in _fields(schemas[route.body.__name__])]
            lines.append("")
        lines.append(f"Answer: {', '.join(f'`{kind}`' for kind in route.answers)}.")
    return "\n".join(lines)


def events_page() -> str:
    """Every event class with its fields."""
    lines = [
        "# Events",
        "",
        "What the stages of a turn publish, in `edgevox.core.events`. `at_s` is on the monotonic clock; a latency is",
        "the difference of two events ([ADR 2](../adr/0002-events-are-the-only-clock.md)). Events of a turn have its",
        "`turn_id`. Clients of the server get them as frames: [voice WebSocket](../guide/voice-socket.md).",
    ]
    for event in _events():
        fields = [field for field in dataclasses.fields(event) if field.name not in ("at_s", "turn_id")]
        own = event.__doc__ or ""
        text = "" if own.startswith(f"{event.__name__}(") else re.sub(r"\s*\n\s*", " ", own.strip())
        of_turn = "Event of a turn." if issubclass(event, events.TurnEvent) else ""
        lines += ["", f"## {event.__name__}", "", " ".join(filter(None, (text, of_turn)))]
        if fields:
            lines += ["", "| field | type | default |", "|---|---|---|"]
            lines += [_row(_code(field.name), _code(_type(field)), _field_default(field)) for field in fields]
    return "\n".join(lines)


def _row(*cells: str) -> str:
    # Braces at the end of a cell would be attributes of it.
    shown = (cell if cell.endswith(("`", ")")) else cell.replace("{", "&#123;") for cell in cells)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in shown) + " |"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _default(setting: Setting) -> str:
    if setting.default is None:
        return "not set"
    value = dict(setting.default) if isinstance(setting.default, Mapping) else setting.default
    text = json.dumps(value, default=str, ensure_ascii=False)
    return _code(text) if len(text) <= _MOST_DEFAULT_CHARS else "a longer text"


def _commands(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, inner in action.choices.items():
                yield f"{name} {word}", _sentence(inner.description or ""), inner
                yield from _commands(inner, f"{name} {word}")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _usage(parser: argparse.ArgumentParser) -> str:
    return re.sub(r"\n {7}", "\n", parser.format_usage().removeprefix("usage: ")).rstrip()


def _spelled(action: argparse.Action) -> str:
    value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    shown = value if isinstance(value, str) else " ".join(value)
    if action.choices and not action.metavar:
        shown = "|".join(map(str, action.choices))
    return f"{', '.join(action.option_strings)} {shown}".strip()


def _title(route: ApiRoute) -> str:
    return f"{route.method} {route.documented_path}"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _fields(schema: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        yield _code(name), _json_type(field), "required" if name in required else ""


def _json_type(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"$ref": str(ref)}:
            return ref.rpartition("/")[2]
        case {"anyOf": [*parts]} | {"oneOf": [*parts]}:
            return " or ".join(dict.fromkeys(_json_type(part) for part in parts if part.get("type") != "null"))
        case {"enum": [*values]}:
            return " or ".join(json.dumps(value) for value in values)
        case {"const": value}:
            return json.dumps(value)
        case {"type": "array", "items": items}:
            return f"list of {_json_type(items)}"
        case {"type": str(kind)}:
            return kind
    return "any"


def _events() -> list[type[events.Event]]:
    found = [
        one
        for one in vars(events).values()
        if inspect.isclass(one) and issubclass(one, events.Event) and one not in (events.Event, events.TurnEvent)
    ]
    return sorted(found, key=lambda one: inspect.getsourcelines(one)[1])


def _type(field: dataclasses.Field[Any]) -> str:
    aliases = getattr(events, str(field.type), None)
    return str(aliases).replace("typing.", "") if aliases is not None else str(field.type)


def _field_default(field: dataclasses.Field[Any]) -> str:
    return "" if field.default is dataclasses.MISSING else _code(json.dumps(field.default))
