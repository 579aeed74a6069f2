"""Discovery messages of Zigbee2MQTT and ESPHome, which their own packages make at test time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.mqtt_payloads import Figures, read_messages, use

ROOT = Path(__file__).parents[4]
EVERY = 60  # of some 29,000


@pytest.mark.long
@pytest.mark.skipif(shutil.which("npm") is None, reason="Zigbee2MQTT is a package of Node.js")
def test_what_is_listed_of_published_discovery_messages_never_fails_in_use() -> None:
    subprocess.run([ROOT / "script" / "discovery-payloads"], check=True, timeout=300)
    figures = Figures()
    for message in read_messages(ROOT / "build" / "discovery-payloads", EVERY):
        use(message, figures)
    assert figures.failed == []
    assert figures.messages.keys() == {"zigbee2mqtt", "esphome"}
    assert figures.messages.total() > 600
    assert figures.listed.total() > 400
