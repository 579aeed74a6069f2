"""A real Home Assistant with the demo integration, in its own folder and on its own port."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

# `make test-newest-home` names another one.
from edgevox.testing.serve import free_port

HASS = Path(os.environ.get("TEST_HASS") or Path(__file__).resolve().parents[4] / ".home-assistant" / "bin" / "hass")
_STARTS_WITHIN_S = 90.0
_CONFIGURATION = """
homeassistant:
  name: Test House
  latitude: 52.0
  longitude: 5.0
  elevation: 0
  unit_system: metric
  time_zone: UTC
http:
  server_host: 127.0.0.1
  server_port: {port}
api:
websocket_api:
auth:
config:
logger:
  default: error
recorder:
history:
"""
_DEMO_THINGS = """
demo:
kitchen_sink:
input_boolean:
  guest_mode:
    name: Guest Mode
  winter_mode:
    name: Winter Mode
scene:
  - name: Movie Night
    entities:
      light.bed_light: "on"
      light.ceiling_lights: "off"
script:
  good_night:
    alias: Good Night
    sequence:
      - service: input_boolean.turn_on
        target:
          entity_id: input_boolean.guest_mode
media_player:
  - platform: universal
    name: Hifi
    unique_id: hifi
    children:
      - media_player.walkman
light:
  - platform: template
    lights:
      cellar_light:
        friendly_name: Cellar Light
        value_template: "{{ false }}"
        turn_on: []
        turn_off: []
"""


class Server:
    """Started and killed as often as a test likes; its configuration stays in its folder."""

    def __init__(self, folder: Path, *, hass: Path = HASS, things: str = _DEMO_THINGS) -> None:
        self.folder = folder
        self.port = free_port()
        self.token = ""
        self._hass = hass
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        configuration = _CONFIGURATION.format(port=self.port) + things
        (folder / "configuration.yaml").write_text(configuration, encoding="utf-8")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns when it answers; it may not know all its things yet."""
        with (self.folder / "output.log").open("ab") as output:
            self._process = subprocess.Popen(
                [self._hass, "--config", self.folder, "--skip-pip"], stdout=output, stderr=subprocess.STDOUT
            )
        eventually(self._answers, within_s=_STARTS_WITHIN_S)

    def kill(self) -> None:
        """As a power cut would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(timeout=10)
            self._process = None

    def stop(self) -> None:
        """In peace: everything is written down before it ends."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=30)
            self._process = None

    def pause(self) -> None:
        """Connections stay open without answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def log(self) -> str:
        """The errors that it has logged."""
        return (self.folder / "output.log").read_text(encoding="utf-8")

    def sign_up(self) -> None:
        """Make the first user, and take a token of theirs."""
        about = {
            "client_id": self.url,
            "name": "Test",
            "username": "test",
            "password": "test-password",
            "language": "en",
        }
        self.token = self._token(self.post("/api/onboarding/users", about)["auth_code"])

    def sign_in(self, username: str, password: str) -> str:
        """A token of another user's."""
        client = {"client_id": self.url, "redirect_uri": self.url}
        flow = self.post("/auth/login_flow", {**client, "handler": ["homeassistant", None]})
        answers = {"client_id": self.url, "username": username, "password": password}
        return self._token(self.post(f"/auth/login_flow/{flow['flow_id']}", answers)["result"])

    def add_integration(self, name: str, answers: dict[str, Any]) -> str:
        """As in the settings, where a form is filled in; returns the id of the entry."""
        flows = "/api/config/config_entries/flow"
        form = self.post(flows, {"handler": name})
        done = self.post(f"{flows}/{form['flow_id']}", answers)
        assert done["type"] == "create_entry", done
        return str(done["result"]["entry_id"])

    def remove_integration(self, entry_id: str) -> None:
        self._request("DELETE", f"/api/config/config_entries/entry/{entry_id}", None)

    def wait_until_running(self) -> None:
        eventually(lambda: self.get("/api/config")["state"] == "RUNNING", within_s=_STARTS_WITHIN_S)

    def get(self, path: str) -> Any:
        """The REST API's answer: not what the home under test believes."""
        return self._request("GET", path, None)

    def state(self, entity_id: str) -> str:
        return str(self.get(f"/api/states/{entity_id}")["state"])

    def attribute(self, entity_id: str, key: str) -> Any:
        return self.get(f"/api/states/{entity_id}")["attributes"].get(key)

    def set_state(self, entity_id: str, state: str, **attributes: Any) -> None:
        self.post(f"/api/states/{entity_id}", {"state": state, "attributes": attributes})

    def remove_state(self, entity_id: str) -> None:
        self._request("DELETE", f"/api/states/{entity_id}", None)

    def call(self, domain: str, service: str, **data: Any) -> None:
        self.post(f"/api/services/{domain}/{service}", data)

    def _token(self, code: str) -> str:
        form = {"client_id": self.url, "grant_type": "authorization_code", "code": code}
        body = urllib.parse.urlencode(form).encode()
        answer = self._request("POST", "/auth/token", body, "application/x-www-form-urlencoded")
        return str(answer["access_token"])

    def post(self, path: str, content: dict[str, Any]) -> Any:
        return self._request("POST", path, json.dumps(content).encode())

    def _request(self, method: str, path: str, body: bytes | None, content_type: str = "application/json") -> Any:
        headers = {"Content-Type": content_type}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(f"{self.url}{path}", body, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log()
        try:
            with urllib.request.urlopen(f"{self.url}/manifest.json", timeout=5):
                return True
        except OSError:
            return False


def eventually(is_so: Callable[[], bool], *, within_s: float) -> None:
    """Wait until it is so; fails when it takes too long."""
    until_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until_s, "it took too long"
        time.sleep(0.05)
