"""EdgeVox: a voice assistant that lives on your own machine.

The names in `__all__` are the stable Python API; they are imported when first used. A Python program has the
assistant with `open_assistant`; a plugin has tools:

>>> from edgevox import ToolError, ToolRegistry, tool
>>> @tool
... def price_of(thing: str) -> str:
...     \"\"\"The price of a thing.\"\"\"
...     if thing != "tea":
...         raise ToolError("only tea has a price")
...     return "3 euros"
>>> ToolRegistry([price_of]).names
('price_of',)
>>> price_of.description
'The price of a thing.'
"""

from __future__ import annotations

from importlib import import_module

# typing itself would take longer to import than this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from edgevox.app.library import open_assistant
    from edgevox.core.errors import EdgevoxError, ToolError
    from edgevox.core.hooks import Answer, Hook, Run
    from edgevox.tools.plugin_trial import try_plugin
    from edgevox.tools.plugins import PluginHost
    from edgevox.tools.registry import ToolRegistry
    from edgevox.tools.tool import Speech, Tool, tool

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "EdgevoxError",
    "Hook",
    "PluginHost",
    "Run",
    "Speech",
    "Tool",
    "ToolError",
    "ToolRegistry",
    "__version__",
    "open_assistant",
    "tool",
    "try_plugin",
]

_HOMES = {
    "Answer": "edgevox.core.hooks",
    "EdgevoxError": "edgevox.core.errors",
    "Hook": "edgevox.core.hooks",
    "PluginHost": "edgevox.tools.plugins",
    "Run": "edgevox.core.hooks",
    "Speech": "edgevox.tools.tool",
    "Tool": "edgevox.tools.tool",
    "ToolError": "edgevox.core.errors",
    "ToolRegistry": "edgevox.tools.registry",
    "open_assistant": "edgevox.app.library",
    "tool": "edgevox.tools.tool",
    "try_plugin": "edgevox.tools.plugin_trial",
}


def __getattr__(name: str) -> object:
    # Tools bring pydantic and jsonschema along; `import edgevox` alone stays instant.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
