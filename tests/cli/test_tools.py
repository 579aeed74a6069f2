"""`edgevox tools` as a user types it."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from edgevox.cli.main import main
from edgevox.home import DemoHome
from edgevox.home.backends.demo import HOME_FILE
from edgevox.home.intents.catalogue import known_tools
from edgevox.tools.results import ToolStats
from tests.cli.command import BOUND_S, edgevox, environment

UNLOCK = ("turn_off", '{"name": "front door"}')


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path / "state"


def state_of(folder: Path, entity_id: str) -> str:
    entity = DemoHome(folder / HOME_FILE).house().entity(entity_id)
    assert entity is not None
    return entity.state


def write_plugin(config: Path, name: str, text: str) -> None:
    folder = config / "plugins"
    folder.mkdir(parents=True, mode=0o755, exist_ok=True)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / f"{name}.py").chmod(0o644)


# --- list and show


def test_the_list_has_every_tool_and_says_why_others_are_not_offered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "list"]) == 0
    shown = capsys.readouterr().out
    assert "light_set" in shown
    assert "search_corpus: no document folder is set (tools.documents)" in shown


def test_the_list_as_json_is_what_a_model_gets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "list", "--json"]) == 0
    tools = json.loads(capsys.readouterr().out)
    assert {tool["function"]["name"] for tool in tools} >= set(known_tools())
    assert {tool["type"] for tool in tools} == {"function"}


def test_a_plugin_that_failed_is_named_beside_the_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_plugin(tmp_path / "config", "bad", "1 / 0")
    assert main(["tools", "list"]) == 0
    assert "plugin bad is disabled: ZeroDivisionError" in capsys.readouterr().err


def test_show_has_all_that_is_known_of_a_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "show", "light_set"]) == 0
    shown = capsys.readouterr().out
    for part in ("light_set(name?", "permission “act”", "timeout 30 s", '"brightness": {'):
        assert part in shown
    assert main(["tools", "show", "light_set", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["name"], facts["from"], facts["side_effects"]) == ("light_set", "edgevox", True)


def test_an_unknown_tool_is_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "show", "light_sett"]) == 1
    assert "there is no tool called light_sett" in capsys.readouterr().err


# --- call


def test_a_call_does_it_and_prints_what_would_be_said(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "call", "light_set", '{"name": "desk lamp", "brightness": 30}']) == 0
    assert "30" in capsys.readouterr().out
    assert state_of(state_folder, "light.desk_lamp") == "on"
    assert ToolStats(state_folder).summary() == {}


def test_a_call_without_arguments_needs_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "call", "nevermind"]) == 0
    assert capsys.readouterr().out == "All right.\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [("{", "invalid_arguments"), ('{"brightness": 200}', "at most 100"), ('{"colour": "red"}', "colour")],
)
def test_arguments_that_do_not_fit_are_explained(
    capsys: pytest.CaptureFixture[str], arguments: str, problem: str
) -> None:
    assert main(["tools", "call", "light_set", arguments]) == 1
    printed = capsys.readouterr()
    assert problem in printed.err
    assert printed.out == ""


def test_the_result_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "call", "nevermind", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["name"], result["speech"], result["code"]) == ("nevermind", "All right.", None)


def test_a_plugins_tool_is_called_with_its_plugin_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_plugin(
        tmp_path / "config",
        "hub",
        "from edgevox import tool\n"
        "def register(host):\n"
        "    state = []\n"
        "    host.on_start(lambda: state.append('connected'))\n"
        "    @tool\n"
        "    def hub_state() -> str:\n"
        "        'How the hub is.'\n"
        "        return ', '.join(state)\n"
        "    host.add_tool(hub_state)\n",
    )
    assert main(["tools", "call", "hub_state"]) == 0
    assert "connected" in capsys.readouterr().out


def test_a_tool_that_a_plugin_brings_when_it_starts_can_be_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_plugin(
        tmp_path / "config",
        "late",
        "from edgevox import tool\n"
        "@tool\n"
        "def late_state() -> str:\n"
        "    'How it is.'\n"
        "    return 'here'\n"
        "def register(host):\n"
        "    host.on_start(lambda: host.add_tool(late_state))\n",
    )
    assert main(["tools", "call", "late_state"]) == 0
    assert "here" in capsys.readouterr().out
    assert main(["tools", "call", "late_stat"]) == 1
    assert "did you mean late_state" in capsys.readouterr().err


def test_documents_can_be_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "papers" / "manuals").mkdir(parents=True)
    (tmp_path / "papers" / "manuals" / "oven.txt").write_text("Error five: the door is open.")
    monkeypatch.setenv("EDGEVOX_TOOLS__DOCUMENTS", str(tmp_path / "papers"))
    assert main(["tools", "call", "search_corpus", '{"query": "error five"}']) == 0
    assert "the door is open" in capsys.readouterr().out


@pytest.mark.engine
def test_a_recording_is_written_down(tmp_path: Path) -> None:
    env = environment(tmp_path, EDGEVOX_TOOLS__SOUND_FOLDERS=str(tmp_path))
    assert edgevox("say", "Please water the plants.", "-o", tmp_path / "memo.wav", env=env).returncode == 0
    result = edgevox("tools", "call", "transcribe_audio", '{"file": "memo.wav"}', env=env)
    assert result.returncode == 0
    assert "water the plants" in result.stdout.lower()


# --- confirmation


def test_without_a_terminal_what_needs_a_yes_is_refused(state_folder: Path, tmp_path: Path) -> None:
    result = edgevox("tools", "call", *UNLOCK, env=environment(tmp_path), stdin="yes\n")
    assert result.returncode == 1
    assert "“Unlock the front door?” needs a yes" in result.stderr
    assert state_of(state_folder, "lock.front_door") == "locked"


@pytest.mark.parametrize(
    ("answer", "state", "code"),
    [(b"yes\n", "unlocked", 0), (b"no\n", "locked", 1), (b"yes but later\n", "locked", 1), (b"\x04", "locked", 1)],
)
def test_on_a_terminal_the_person_at_it_decides(
    state_folder: Path, tmp_path: Path, answer: bytes, state: str, code: int
) -> None:
    assert on_terminal(tmp_path, answer) == code
    assert state_of(state_folder, "lock.front_door") == state


def test_no_answer_in_time_is_a_no(state_folder: Path, tmp_path: Path) -> None:
    assert on_terminal(tmp_path, b"", EDGEVOX_TOOLS__CONFIRM_WITHIN_S="0.2") == 1
    assert state_of(state_folder, "lock.front_door") == "locked"


def on_terminal(home: Path, answer: bytes, **env: str) -> int:
    """Call the unlocking tool from a terminal, and type the answer once the question is there."""
    terminal, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "edgevox", "tools", "call", *UNLOCK],
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment(home, **env),
        start_new_session=True,
    ) as process:
        try:
            printed = b""
            while b"Unlock the front door?" not in printed:
                assert select.select([terminal], [], [], BOUND_S)[0], printed
                printed += os.read(terminal, 1024)
            os.write(terminal, answer)
            return process.wait(BOUND_S)
        finally:
            process.kill()
            os.close(terminal)
            os.close(theirs)
