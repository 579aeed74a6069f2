"""Names are unique, and the definitions for the model are computed once."""

from __future__ import annotations

import pytest

from edgevox.core.errors import ConfigError, UnknownTool
from edgevox.tools import Tool, ToolRegistry


def made(name: str) -> Tool:
    return Tool(name=name, description=f"Does {name}.")


def test_tools_keep_their_order() -> None:
    registry = ToolRegistry([made("b"), made("a")])
    assert registry.names == ("b", "a")
    assert [tool.name for tool in registry] == ["b", "a"]
    assert "a" in registry
    assert len(registry) == 2


@pytest.mark.parametrize("name", ["get_time", "Get_Time"])
def test_a_name_clash_names_both_owners(name: str) -> None:
    registry = ToolRegistry([made("get_time")])
    with pytest.raises(ConfigError, match=f"{name}: one of edgevox, one of plugin clock"):
        registry.add(made(name), owner="plugin clock")
    assert len(registry) == 1


def test_the_tools_of_an_owner_go_together() -> None:
    registry = ToolRegistry([made("get_time")])
    registry.add(made("ring"), owner="plugin clock")
    assert registry.owner("ring") == "plugin clock"
    registry.remove_owner("plugin clock")
    assert registry.names == ("get_time",)
    registry.add(made("ring"), owner="plugin bell")
    assert registry.owner("ring") == "plugin bell"


def test_an_unknown_tool_is_an_error_that_says_so() -> None:
    with pytest.raises(UnknownTool, match="no tool called fly"):
        ToolRegistry().get("fly")
    with pytest.raises(UnknownTool, match="no tool called fly"):
        ToolRegistry([made("walk")]).openai_schemas(["fly"])


def test_schemas_are_made_once_and_again_when_the_tools_change() -> None:
    registry = ToolRegistry([made("a"), made("b")])
    first = registry.openai_schemas()
    assert registry.openai_schemas() is first
    assert [schema["function"]["name"] for schema in registry.openai_schemas(["b"])] == ["b"]
    registry.add(made("c"))
    assert [schema["function"]["name"] for schema in registry.openai_schemas()] == ["a", "b", "c"]
