"""`edgevox serve` as a user of its own has it: what is said to it over the chat API, with a yes to what it asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edgevox.core.files import user_folders
from edgevox.testing.serve import edgevox_serve

ANSWERS_WITHIN_S = 600.0
_SPEAKER, _GUARD = "edgevox-the-speaker-in-the-room", "edgevox-the-guard-who-says-yes"
_TOKENS = f"""
[speaker]
token = "{_SPEAKER}"
scopes = ["chat", "read", "act", "home.*"]
[guard]
token = "{_GUARD}"
scopes = ["confirm"]
"""


class Program:
    """The program with the default model, in folders of its own. What needs a yes gets one, from another token."""

    def __init__(self, folder: Path) -> None:
        config = folder / "config"
        config.mkdir(parents=True)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("EDGEVOX_")}
        self.env = kept | {
            "HOME": str(folder),
            "EDGEVOX_CONFIG_DIR": str(config),
            "EDGEVOX_STATE_DIR": str(folder / "state"),
            "EDGEVOX_MODELS_DIR": str(user_folders().models),
        }
        tokens = config / "server_tokens.toml"
        tokens.touch(mode=0o600)
        tokens.write_text(_TOKENS, encoding="utf-8")
        self._address = ""

    def run(self, *words: str, stdin: str = "") -> str:
        """One of its other commands; what it prints. Fails if the command does."""
        command = [sys.executable, "-m", "edgevox", *words]
        done = subprocess.run(command, input=stdin, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Run `edgevox serve` during the block. Raises RuntimeError with its output if it does not start."""
        with edgevox_serve(self.env, "--no-audio") as served:
            self._address = served.address
            yield

    def say(self, sentence: str) -> str:
        """What it answers, with a yes to each of its questions."""
        body = {"messages": [{"role": "user", "content": sentence}]}
        stopped = threading.Event()
        guard = threading.Thread(target=self._say_yes, args=(stopped,))
        guard.start()
        try:
            answer = self._request("/v1/chat/completions", body, _SPEAKER)
        finally:
            stopped.set()
            guard.join()
        return str(answer["choices"][0]["message"]["content"] or "")

    def chosen(self) -> dict[str, int]:
        """How often each tool has been called."""
        return {tool["name"]: tool["chosen"] for tool in self._request("/v1/tools/stats", None, _SPEAKER)["data"]}

    def _say_yes(self, stopped: threading.Event) -> None:
        while not stopped.wait(0.3):
            for question in self._request("/v1/confirmations", None, _GUARD)["data"]:
                try:
                    self._request(f"/v1/confirmations/{question['token']}", {"granted": True}, _GUARD)
                except urllib.error.HTTPError as error:
                    if error.code != 404:  # it was answered meanwhile
                        raise

    def _request(self, path: str, body: dict[str, Any] | None, token: str) -> Any:  # noqa: ANN401 - JSON
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self._address}{path}", data, headers)
        with urllib.request.urlopen(request, timeout=ANSWERS_WITHIN_S) as answer:
            return json.load(answer)
