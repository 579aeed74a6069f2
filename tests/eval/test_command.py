"""`edgevox eval` as a person runs it, on a model behind a loopback endpoint and on the default one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import BOUND_S, edgevox, environment, home_environment
from tests.eval.remote_server import Message, RemoteServer, call
from tests.eval.rows import LIGHT_ON, LIGHT_ON_STATE, row, write

ROWS = (
    row(id="on", expect={"calls": [LIGHT_ON], "state": LIGHT_ON_STATE}),
    row(id="off", utterance="counter light off", expect={"calls": [{**LIGHT_ON, "name": "turn_off"}]}),
    row(id="joke", category="talk", utterance="tell me a joke", expect={"no_call": True}),
)


def _on_or_joke(body: dict[str, Any]) -> Message | int:
    if "joke" in body["messages"][-1]["content"]:
        return {"content": "I only run this home."}
    return call("turn_on", name="kitchen light")


def _remote(server: RemoteServer) -> tuple[str, ...]:
    return ("--remote", server.url, "--model", "big")


def test_a_remote_model_is_scored_in_a_table_and_in_files(tmp_path: Path) -> None:
    figures, rows = tmp_path / "figures.json", tmp_path / "rows.jsonl"
    with RemoteServer(_on_or_joke).running() as server:
        done = edgevox(
            *("eval", write(tmp_path, *ROWS), "--json", figures, "--rows", rows),
            *_remote(server),
            env=environment(tmp_path, EDGEVOX_REMOTE_KEY="secret"),
        )
    assert done.returncode == 0, done.stderr
    lights, talk, overall = (line.split() for line in done.stdout.splitlines()[1:])
    assert lights[:6] == ["lights", "2", "50.0", "50.0", "50.0", "100.0"]
    assert talk[:3] == ["talk", "1", "100.0"]
    assert overall[0] == "all"
    facts = json.loads(figures.read_text())["big"]["suite"]
    assert facts["lights"]["tool"] == {"share": 0.5, "of": 2}
    assert facts["talk"]["refused"] == {"share": 1.0, "of": 1}
    assert facts["all"]["prompt_tokens"] == 700
    first = json.loads(rows.read_text().splitlines()[0])
    assert first["id"] == "on"
    assert first["calls"] == [LIGHT_ON]
    assert all(first[key] is True for key in ("tool_ok", "args_ok", "lenient_ok", "valid", "state_ok"))
    assert first["generated_tokens"] == 12
    assert first["ms"] > 0
    assert server.keys == ["Bearer secret"] * 3
    assert server.bodies[0]["model"] == "big"
    assert {"turn_on", "respond"} <= {tool["function"]["name"] for tool in server.bodies[0]["tools"]}
    assert server.bodies[0]["messages"][-1] == {"role": "user", "content": "kitchen light on"}


def test_rows_can_be_chosen(tmp_path: Path) -> None:
    suite = write(tmp_path, *ROWS)
    with RemoteServer(_on_or_joke).running() as server:
        done = edgevox("eval", suite, *_remote(server), "--category", "talk", env=environment(tmp_path))
        assert [line.split()[0] for line in done.stdout.splitlines()] == ["suite", "talk"]
        done = edgevox("eval", suite, *_remote(server), "--limit", "1", env=environment(tmp_path))
        assert done.returncode == 0, done.stderr
        assert len(server.bodies) == 2
        done = edgevox("eval", suite, *_remote(server), "--category", "tolk", env=environment(tmp_path))
    assert done.returncode == 2
    assert "lights, talk" in done.stderr


def test_a_policy_can_be_tried(tmp_path: Path) -> None:
    with RemoteServer(_on_or_joke).running() as server:
        edgevox(
            *("eval", write(tmp_path, *ROWS), "--policy", "required_first_hop"),
            *_remote(server),
            env=environment(tmp_path),
        )
    assert {body["tool_choice"] for body in server.bodies} == {"required"}


def test_an_endpoint_that_fails_is_named_and_what_was_done_is_shown(tmp_path: Path) -> None:
    def fails_at_off(body: dict[str, Any]) -> Message | int:
        return 503 if "off" in body["messages"][-1]["content"] else _on_or_joke(body)

    with RemoteServer(fails_at_off).running() as server:
        done = edgevox("eval", write(tmp_path, *ROWS), *_remote(server), env=environment(tmp_path))
    assert done.returncode == 5
    assert "answered 503" in done.stderr
    assert done.stdout.splitlines()[1].split()[:3] == ["lights", "1", "100.0"]


def test_ctrl_c_shows_what_is_there(tmp_path: Path) -> None:
    is_asked, is_over = threading.Event(), threading.Event()

    def waits_at_off(body: dict[str, Any]) -> Message | int:
        if "off" in body["messages"][-1]["content"]:
            is_asked.set()
            is_over.wait(BOUND_S)
        return _on_or_joke(body)

    with (
        RemoteServer(waits_at_off).running() as server,
        subprocess.Popen(
            [sys.executable, "-m", "edgevox", "eval", write(tmp_path, *ROWS), *_remote(server)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
            text=True,
        ) as process,
    ):
        try:
            assert is_asked.wait(BOUND_S)
            process.send_signal(signal.SIGINT)
            shown, complaint = process.communicate(timeout=BOUND_S)
        finally:
            is_over.set()
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert shown.splitlines()[1].split()[:3] == ["lights", "1", "100.0"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--remote", "http://127.0.0.1:1/v1"), "--remote needs --model"),
        (("--remote", "127.0.0.1:1", "--model", "big"), "is not a valid URL"),
        (("--remote", "http://127.0.0.1:1/v1", "--model", "big"), "does not answer"),
        (("--preset", "none-such"), "none-such"),
        (("--adapter", "none.gguf"), "none.gguf"),
    ],
)
def test_what_cannot_be_examined_is_named(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    done = edgevox("eval", write(tmp_path, *ROWS), *words, env=environment(tmp_path))
    assert done.returncode in (2, 5)
    assert says in done.stderr
    assert "→" in done.stderr


def test_the_figures_do_not_replace_a_suite(tmp_path: Path) -> None:
    path = write(tmp_path, *ROWS)
    before = path.read_bytes()
    done = edgevox("eval", "--json", path, env=environment(tmp_path))
    assert (done.returncode, path.read_bytes()) == (2, before)
    assert "would replace the suite" in done.stderr


def test_a_broken_suite_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, row(), row())
    done = edgevox("eval", path, "--remote", "http://127.0.0.1:1", "--model", "x", env=environment(tmp_path))
    assert done.returncode == 2
    assert f"{path}:2: duplicate id one" in done.stderr


_RECORDING = {"file": "1.wav", "expect": {"no_call": True}}


@pytest.mark.parametrize(
    ("words", "says", "hint"),
    [
        (("--speech",), "row 1.wav of suite: there is no file", "check the name"),
        (("--speech", "--voices", "piper"), "--voices only applies to synthesised rows", "remove it"),
        (("--speech", "--speeds", "1"), "--speeds only applies to synthesised rows", "remove it"),
        (("--speech", "--noise", "white"), "--noise without --snr", "--snr 10"),
        ((), "row 1.wav of suite is a recording without a transcript", "--speech"),
    ],
)
def test_recordings_that_cannot_be_heard_are_named(
    tmp_path: Path, words: tuple[str, ...], says: str, hint: str
) -> None:
    done = edgevox("eval", write(tmp_path, _RECORDING), *words, env=environment(tmp_path))
    assert done.returncode == 2
    assert says in done.stderr
    assert hint in done.stderr.split("→")[1]


def test_a_recording_that_is_no_sound_is_named_before_anything_is_heard(tmp_path: Path) -> None:
    (tmp_path / "1.wav").write_text("no sound", encoding="utf-8")
    done = edgevox("eval", write(tmp_path, _RECORDING), "--speech", env=environment(tmp_path))
    assert done.returncode == 2
    assert "1.wav is damaged, or is no sound file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_recording_can_be_asked_by_its_words(tmp_path: Path) -> None:
    suite = write(tmp_path, row(file="1.wav"))
    with RemoteServer(_on_or_joke).running() as server:
        done = edgevox("eval", suite, *_remote(server), env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert server.bodies[0]["messages"][-1]["content"] == "kitchen light on"


@pytest.mark.engine
def test_a_command_that_is_spoken_or_recorded_has_its_effect(
    tmp_path: Path, write_speech: Callable[[str, Path], None]
) -> None:
    said = "turn on the kitchen light"
    write_speech(said, tmp_path / "said.wav")
    # One tool and not all of the home's, so that the prompt is short.
    offered = {"tools": [_TURN_ON], "home": "demo"}
    expect = {"calls": [LIGHT_ON], "state": LIGHT_ON_STATE}
    nobody_says = row(id="1", category="misheard", utterance="turn on the kitten light")
    recorded = {"file": "said.wav", "text": said, "expect": expect, **offered}
    suite = write(tmp_path, row(utterance=said, expect=expect, **offered), nobody_says, recorded)
    written, notes = tmp_path / "rows.jsonl", tmp_path / "heard.jsonl"
    done = edgevox(
        *("eval", suite, "--speech", "--voices", "piper", "--speeds", "1.0", "--snr", "clean"),
        *("--heard", notes, "--rows", written, "--max-tokens", "40", "--temperature", "0"),
        env=home_environment(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert [line.split()[:6] for line in done.stdout.splitlines()[1:]] == [
        ["recorded", "1", "0.0", "100.0", "0.0", "100.0"],
        ["piper", "clean", "1", "0.0", "100.0", "0.0"],
        ["all", "2", "0.0", "100.0", "0.0", "100.0"],
    ]
    got = [json.loads(line) for line in written.read_text().splitlines()]
    assert [one["id"] for one in got] == ["said.wav", "one"]
    for one in got:
        assert one["spoken"]["text"] == said
        assert "kitchen light" in one["utterance"].casefold()
        assert all(one[key] is True for key in ("tool_ok", "args_ok", "valid", "state_ok"))
        assert one["prompt_tokens"] > 30
        assert one["generated_tokens"] > 0
    assert len(notes.read_text().splitlines()) == 2


@pytest.mark.engine
def test_the_default_model_is_scored_by_its_effects_on_a_home(tmp_path: Path) -> None:
    turns = [
        {"utterance": "turn on the kitchen light", "expect": {"state": LIGHT_ON_STATE}},
        {"utterance": "don't turn off the lights", "expect": {"unchanged": True}},
    ]
    suite = write(tmp_path, {"id": "one", "category": "dialogue", "turns": turns})
    written = tmp_path / "rows.jsonl"
    done = edgevox("eval", suite, "--rows", written, "--temperature", "0", env=home_environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[8:11] == ["state", "turns", "right"]
    (got,) = map(json.loads, written.read_text().splitlines())
    assert [turn["right"] for turn in got["turns"]] == [True, True]


_TURN_ON = {
    "type": "function",
    "function": {
        "name": "turn_on",
        "description": "Turn something on",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
}
