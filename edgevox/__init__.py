"""EdgeVox: a voice assistant that lives on your own machine.

For plugins: `from edgevox import tool, ToolError`. For Python programs: `from edgevox import open_assistant`.
"""

from __future__ import annotations

from importlib import import_module

# typing itself would take longer to import than this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from edgevox.app.library import open_assistant
    from edgevox.core.errors import ToolError
    from edgevox.tools.tool import Speech, Tool, tool

__version__ = "0.1.0"

__all__ = ["Speech", "Tool", "ToolError", "__version__", "open_assistant", "tool"]

_HOMES = {
    "Speech": "edgevox.tools.tool",
    "Tool": "edgevox.tools.tool",
    "ToolError": "edgevox.core.errors",
    "open_assistant": "edgevox.app.library",
    "tool": "edgevox.tools.tool",
}


def __getattr__(name: str) -> object:
    # Tools bring pydantic and jsonschema along; `import edgevox` alone stays instant.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
