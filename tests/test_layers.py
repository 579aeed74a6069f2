"""The structure of the package: layers point one way, folders stay small, no import cycles, errors caught by name."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import edgevox

PACKAGE = Path(__file__).resolve().parent.parent / "edgevox"

# Lower layers first. A module may import its own layer and everything below it; the stages of one layer
# (`STAGES_APART`) do not import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("edgevox.core",),
    ("edgevox.config", "edgevox.models", "edgevox.engines"),
    (
        "edgevox.audio",
        "edgevox.stt",
        "edgevox.llm",
        "edgevox.tools",
        "edgevox.tts",
        "edgevox.embedding",
        "edgevox.speakers",
    ),
    ("edgevox.agents", "edgevox.home"),
    ("edgevox.dialogue", "edgevox.adapters"),
    ("edgevox.eval", "edgevox.satellites", "edgevox.server", "edgevox.testing", "edgevox.wake_training"),
    ("edgevox.app",),
    ("edgevox.cli", "edgevox.__main__"),
)
STAGES_APART = (LAYERS[2], LAYERS[3])
MAY_IMPORT_HOME = frozenset({"edgevox.app", "edgevox.server", "edgevox.cli", "edgevox.eval", "edgevox.home"})
MAX_FOLDER_ENTRIES = 16
# Old import paths that users need: the version that removes each.
ALIASES = {"edgevox.hooks": "0.3"}

# Only these may catch everything: the top level of a process, or the border to code of an engine, a tool or a plugin.
MAY_CATCH_ALL = {
    "edgevox.engines.base",
    "edgevox.cli.main",
    "edgevox.tools.executor",
    "edgevox.tools.runner",
    "edgevox.tools.plugins.manager",
    "edgevox.tools.mcp.supervisor",
    "edgevox.core.hooks",
    "edgevox.dialogue.pipeline",  # a turn always ends
}
# Only this file may import what is under the GPL.
GPL = {"piper": {"edgevox.tts.piper", "edgevox.tts.espeak"}}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def nodes_of(name: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))))


@functools.cache
def imports(name: str) -> set[str]:
    """Every import of a module: lazy ones and those for type checking too."""
    found: set[str] = set()
    for node in nodes_of(name):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{name} uses a relative import"
            found |= {
                full if (full := f"{node.module}.{alias.name}") in MODULES else node.module for alias in node.names
            }
    return found


def unit(name: str) -> str:
    """The layer's entry that a module belongs to: edgevox.llm for edgevox.llm.presets."""
    return ".".join(name.split(".")[:2])


LEVELS = {entry: number for number, layer in enumerate(LAYERS) for entry in layer}
INSIDE = MODULES.keys() - {"edgevox"} - ALIASES.keys()


def test_every_module_belongs_to_a_layer() -> None:
    assert {unit(name) for name in INSIDE} == LEVELS.keys()


def test_imports_point_down() -> None:
    wrong = []
    for name in INSIDE:
        for other in imports(name):
            if not other.startswith("edgevox.") or unit(other) == unit(name):
                continue
            if LEVELS[unit(other)] > LEVELS[unit(name)]:
                wrong.append(f"{name} imports {other} from a higher layer")
            if any({unit(name), unit(other)} <= {*stages} for stages in STAGES_APART):
                wrong.append(f"{name} imports {other}, a stage of the same layer")
    assert wrong == []


def test_only_the_assembly_knows_the_home() -> None:
    users = {unit(name) for name in INSIDE if any(unit(other) == "edgevox.home" for other in imports(name))}
    assert users <= MAY_IMPORT_HOME


def test_there_are_no_import_cycles() -> None:
    graph = {name: imports(name) & MODULES.keys() - {name} for name in MODULES.keys() - {"edgevox"}}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail[trail.index(name) :], name))
        if name not in done and name in graph:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_folders_stay_small() -> None:
    large = {
        str(folder.relative_to(PACKAGE)): len(entries)
        for folder in {path.parent for path in MODULES.values()} - {PACKAGE}
        if len(entries := {path for path in folder.iterdir() if is_entry(path)}) > MAX_FOLDER_ENTRIES
    }
    assert large == {}, "split these folders"


def is_entry(path: Path) -> bool:
    """True for a module and for a folder with modules."""
    if path.is_dir():
        return any(path.rglob("*.py"))
    return path.suffix == ".py" and path.name != "__init__.py"


def test_aliases_are_removed_in_time() -> None:
    """An old import path that users need warns, and says when it goes; then it goes."""
    for name, removed_in in ALIASES.items():
        text = MODULES[name].read_text(encoding="utf-8")
        assert "DeprecationWarning" in text
        assert removed_in in text
        assert version(edgevox.__version__) < version(removed_in), f"delete {name}"


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def test_tool_parsers_are_pure() -> None:
    allowed = ("edgevox.core.types", "edgevox.core.errors", "edgevox.llm.tool_parsers")
    parsers = {name for name in MODULES if name.startswith("edgevox.llm.tool_parsers")}
    assert parsers
    for name in parsers:
        wrong = [o for o in imports(name) if o.startswith("edgevox") and not o.startswith(allowed)]
        assert wrong == [], f"{name} imports {wrong}"


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


def test_gpl_code_has_known_doors() -> None:
    for package, doors in GPL.items():
        users = {
            name
            for name in MODULES
            if any(other == package or other.startswith(f"{package}.") for other in imports(name))
        }
        assert users == doors
