"""The shape of the program: layers point one way, there are no cycles, and errors are caught by name."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "edgevox"

# Lower layers first. A module may import its own layer and everything below it (cycles are checked apart);
# the siblings of one layer, the engines, do not import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "edgevox.types",
        "edgevox.errors",
        "edgevox.platform_support",
        "edgevox.events",
        "edgevox.turn",
        "edgevox.hooks",
        "edgevox.languages",
    ),
    (
        "edgevox.folders",
        "edgevox.whole_file",
        "edgevox.data_files",
        "edgevox.memory",
        "edgevox.settings",
        "edgevox.modelstore",
        "edgevox.metrics",
        "edgevox.turn_log",
        "edgevox.bus",
        "edgevox.engine",
        "edgevox.remote",
        "edgevox.control",
        "edgevox.service",
        "edgevox.new_process",
    ),
    ("edgevox.audio", "edgevox.stt", "edgevox.llm", "edgevox.tools", "edgevox.tts"),
    ("edgevox.agents",),
    ("edgevox.voice",),
    ("edgevox.eval", "edgevox.server", "edgevox.adapters"),
    ("edgevox.daemon", "edgevox.testing"),
    ("edgevox.resident",),
    ("edgevox.cli", "edgevox.__main__"),
)
SIBLINGS_APART = LAYERS[2]

# Only these may catch everything: the top level of a process, or the border to code of a tool or a plugin.
MAY_CATCH_ALL = {
    "edgevox.engine.child",
    "edgevox.cli.main",
    "edgevox.tools.executor",
    "edgevox.tools.running",
    "edgevox.tools.plugins",
    "edgevox.tools.mcp.life",
    "edgevox.hooks",
}
# Only this file may import what is under the GPL.
GPL = {"piper": "edgevox.tts.piper"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def nodes_of(name: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))))


@functools.cache
def imports(name: str, *, at_top_only: bool = False) -> set[str]:
    whole, *_ = nodes = nodes_of(name)
    assert isinstance(whole, ast.Module)
    found: set[str] = set()
    for node in whole.body if at_top_only else nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{name} uses a relative import"
            found |= {
                full if (full := f"{node.module}.{alias.name}") in MODULES else node.module
                for alias in node.names
            }
    return found


def unit(name: str) -> str:
    """The layer's entry that a module belongs to: edgevox.llm for edgevox.llm.presets."""
    return ".".join(name.split(".")[:2])


def level(name: str) -> int:
    for number, layer in enumerate(LAYERS):
        if unit(name) in layer:
            return number
    pytest.fail(f"{name} belongs to no layer: add it to LAYERS")


def test_imports_point_down() -> None:
    wrong = []
    for name in MODULES.keys() - {"edgevox"}:
        for other in imports(name):
            if not other.startswith("edgevox.") or unit(other) == unit(name):
                continue
            if level(other) > level(name):
                wrong.append(f"{name} imports {other} from a higher layer")
            if unit(name) in SIBLINGS_APART and unit(other) in SIBLINGS_APART:
                wrong.append(f"{name} imports its sibling {other}")
    assert wrong == []


def test_every_module_belongs_to_a_layer() -> None:
    assert {unit(name) for name in MODULES.keys() - {"edgevox"}} <= {
        part for layer in LAYERS for part in layer
    }


def test_tool_parsers_are_pure() -> None:
    allowed = ("edgevox.types", "edgevox.errors", "edgevox.llm.tool_parsers")
    parsers = {name for name in MODULES if name.startswith("edgevox.llm.tool_parsers")}
    assert parsers
    for name in parsers:
        wrong = [o for o in imports(name) if o.startswith("edgevox") and not o.startswith(allowed)]
        assert wrong == [], f"{name} imports {wrong}"


def test_there_are_no_import_cycles() -> None:
    graph = {name: imports(name, at_top_only=True) & MODULES.keys() for name in MODULES}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_errors_are_caught_by_name() -> None:
    stray = [
        f"{name}:{node.lineno}"
        for name in MODULES.keys() - MAY_CATCH_ALL
        for node in nodes_of(name)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or "Exception" in caught_names(node.type) or catches_base(node))
    ]
    assert stray == [], "these catch everything"


def caught_names(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def catches_base(handler: ast.ExceptHandler) -> bool:
    """`except BaseException` is for cleaning up: it must end in a bare raise."""
    assert handler.type is not None
    last = handler.body[-1]
    reraises = isinstance(last, ast.Raise) and last.exc is None
    return "BaseException" in caught_names(handler.type) and not reraises


def test_gpl_code_has_one_door() -> None:
    for package, door in GPL.items():
        users = {
            name
            for name in MODULES
            if any(other == package or other.startswith(f"{package}.") for other in imports(name))
        }
        assert users == {door}
