"""Failures of a broker or a device: one sentence, in time, and recovery afterwards."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from edgevox.config.secrets import Secret
from edgevox.home import Action, Entity, HomeError
from edgevox.home.backends.mqtt import Broker, MqttHome
from tests.home.backends.mqtt.conftest import SOON_S, TIMEOUT_S, Spoken, until
from tests.home.backends.mqtt.devices import Devices, whole_house
from tests.home.backends.mqtt.mosquitto import PASSWORD, USER, Mosquitto

LAMP = Entity("light.kitchen_lamp", "Kitchen Lamp", "light", "off")
# Other workers of a build machine may keep us waiting.
SLACK_S = 8.0
# paho leaves the socket of a failed handshake to the garbage collector.
LEAVES_SOCKETS = pytest.mark.filterwarnings(
    "ignore:unclosed <ssl.SSLSocket:ResourceWarning",
    "ignore:Exception ignored in. <ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning",
)


async def started(broker: Broker, *, timeout_s: float = TIMEOUT_S) -> MqttHome:
    home = MqttHome(broker, timeout_s=timeout_s)
    began_s = time.monotonic()
    await home.start()
    assert time.monotonic() - began_s < timeout_s + SLACK_S
    return home


async def refused(home: MqttHome) -> str:
    """What is said to a command that cannot be carried out, which is said in time."""
    began_s = time.monotonic()
    with pytest.raises(HomeError) as caught:
        await home.apply(Action("turn_on", (LAMP,)))
    assert time.monotonic() - began_s < TIMEOUT_S + SLACK_S
    return caught.value.message


async def test_a_missing_broker_is_reported_with_a_hint(mosquitto: Mosquitto) -> None:
    mosquitto.stop()
    home = await started(mosquitto.broker())
    said = f"There is no MQTT broker at port {mosquitto.port} of localhost."
    assert home.problem.startswith(said)
    assert "edgevox home setup" in home.problem
    assert (await refused(home)).startswith(said)
    with pytest.raises(HomeError, match="There is no MQTT broker"):
        home.house()
    await home.close()


async def test_an_unknown_host_is_reported() -> None:
    home = await started(Broker("broker.invalid"), timeout_s=5.0)
    assert home.problem in (
        "There is no broker.invalid in this network. Run edgevox home setup.",
        "The MQTT broker at broker.invalid does not answer. See whether it is running.",
    )
    await home.close()


async def test_a_wrong_password_is_reported(mosquitto: Mosquitto) -> None:
    home = await started(mosquitto.broker(password="wrong"))
    assert home.problem == (
        "The MQTT broker at localhost does not accept our user name and password. Run edgevox home setup."
    )
    assert await refused(home) == home.problem
    await home.close()


async def test_a_silent_broker_times_out() -> None:
    """It takes the connection, and that is all."""
    held: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    home = await started(Broker("127.0.0.1", port), timeout_s=0.5)
    assert home.problem == "The MQTT broker at 127.0.0.1 does not answer. See whether it is running."
    await home.close()
    server.close()
    for writer in held:
        writer.close()


async def test_a_broker_that_starts_later_is_found(mosquitto: Mosquitto, devices: Devices) -> None:
    mosquitto.stop()
    home = await started(mosquitto.broker())
    assert home.problem
    mosquitto.start()
    whole_house(devices)
    await devices.connect()
    await until(lambda: not home.problem)
    spoken = Spoken(home)
    await until(lambda: bool(home.house().entities) and spoken.entity("switch.coffee_machine").state == "off")
    assert await spoken.say("turn_on", name="coffee machine") == "The coffee machine is on."
    await home.close()


async def test_a_killed_broker_is_reconnected(
    mosquitto: Mosquitto, devices: Devices, spoken: Spoken, home: MqttHome
) -> None:
    assert await spoken.say("turn_on", name="coffee machine") == "The coffee machine is on."
    mosquitto.stop()
    await devices.disconnect()
    began_s = time.monotonic()
    said = await spoken.say("turn_on", name="kitchen lamp")
    assert time.monotonic() - began_s < TIMEOUT_S + SLACK_S
    assert "MQTT broker" in said
    await until(lambda: bool(home.problem))
    # What there was is still known, so that a name is still a name.
    assert await spoken.say("get_state", name="coffee machine") == "The coffee machine is on."
    assert await spoken.say("turn_off", name="coffee machine") == home.problem
    mosquitto.start()
    await devices.connect()
    await until(lambda: not home.problem)
    await until(lambda: spoken.entity("switch.coffee_machine").state == "off")
    assert await spoken.say("turn_on", name="kitchen lamp") == "The kitchen lamp is on."
    assert await spoken.say("turn_on", name="coffee machine") == "The coffee machine is on."


async def test_a_frozen_broker_is_reported_in_time(mosquitto: Mosquitto, spoken: Spoken) -> None:
    mosquitto.freeze()
    began_s = time.monotonic()
    said = await spoken.say("turn_on", name="fountain")
    assert said == "The MQTT broker at localhost does not answer. See whether it is running."
    assert time.monotonic() - began_s < TIMEOUT_S + SLACK_S
    assert spoken.entity("switch.fountain").state == "unknown", "it was not told"


async def test_a_silent_device_is_reported_in_time(spoken: Spoken, devices: Devices) -> None:
    began_s = time.monotonic()
    assert await spoken.say("turn_on", name="towel rail") == "The towel rail did not answer."
    assert time.monotonic() - began_s < TIMEOUT_S + SLACK_S
    assert devices.commands == [("rail/set", "ON")]
    assert spoken.entity("switch.towel_rail").state == "off"


async def test_the_answer_lists_only_devices_that_responded(spoken: Spoken) -> None:
    targets = tuple(map(spoken.entity, ("switch.towel_rail", "switch.coffee_machine", "switch.fountain")))
    done = await spoken.home.apply(Action("turn_on", targets))
    assert [entity.id for entity in done] == ["switch.coffee_machine", "switch.fountain"]


async def test_a_device_that_did_something_else_is_reported_with_its_state(spoken: Spoken, devices: Devices) -> None:
    devices.answers("zigbee2mqtt/Entrance Lock/set", lambda _: {"zigbee2mqtt/Entrance Lock": '{"state":"UNLOCK"}'})
    said = await spoken.say("turn_on", name="entrance lock")
    assert said == "The entrance lock did not do that and is unlocked."


async def test_a_device_that_goes_offline_does_not_answer(spoken: Spoken, devices: Devices) -> None:
    await devices.publish("tasmota_A1B2C3/tele/LWT", "Offline")
    await until(lambda: spoken.entity("switch.coffee_machine").state == "unavailable")
    assert await spoken.say("turn_on", name="coffee machine") == "The coffee machine does not answer."
    await devices.publish("tasmota_A1B2C3/tele/LWT", "Online")
    await until(lambda: spoken.entity("switch.coffee_machine").state == "off")
    assert await spoken.say("turn_on", name="coffee machine") == "The coffee machine is on."


async def test_a_removed_device_is_unknown(spoken: Spoken, devices: Devices) -> None:
    machine = spoken.entity("switch.coffee_machine")
    await devices.publish("homeassistant/switch/A1B2C3_RL_1/config", "")
    await until(lambda: spoken.home.house().entity(machine.id) is None)
    assert await spoken.say("turn_on", name="coffee machine") == "I know nothing called coffee machine."
    with pytest.raises(HomeError, match="The coffee machine is no longer there"):
        await spoken.home.apply(Action("turn_on", (machine,)))


async def test_states_that_are_not_retained_are_known_at_the_start(mosquitto: Mosquitto, devices: Devices) -> None:
    await devices.disconnect()
    for number in range(60):
        topic = f"z/lamp{number}"
        lamp = {"name": f"Lamp {number}", "cmd_t": f"{topic}/set", "stat_t": topic, "schema": "json"}
        devices.has(f"light/lamp{number}", {**lamp, "o": {"name": "Zigbee2MQTT"}})
        if number:  # the first one has no power
            devices.answers(f"{topic}/get", partial(_is_on, topic))
    await devices.connect()
    home = MqttHome(mosquitto.broker(), timeout_s=TIMEOUT_S)
    await home.start()
    try:
        states = {entity.name: entity.state for entity in home.house().entities}
    finally:
        await home.close()
    assert [name for name, state in states.items() if state != "on"] == ["Lamp 0"]


def _is_on(topic: str, _: str) -> dict[str, str]:
    return {topic: '{"state": "ON"}'}


async def test_a_device_announced_later_is_known(spoken: Spoken, devices: Devices) -> None:
    await devices.publish("porch/state", "ON")
    config = {"name": "Porch Light", "cmd_t": "porch/set", "stat_t": "porch/state"}
    await devices.publish("homeassistant/light/porch/config", config)
    await until(lambda: spoken.home.house().entity("light.porch_light") is not None)
    await until(lambda: spoken.entity("light.porch_light").state == "on")


@pytest.fixture
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    server = Mosquitto(tmp_path_factory.mktemp("tls"), tls=True)
    server.start()
    yield server
    server.stop()


@LEAVES_SOCKETS
async def test_tls_works_with_a_self_signed_certificate(tls: Mosquitto) -> None:
    assert tls.ca_file is not None
    home = await started(tls.broker())
    assert home.problem == ""
    assert home.house().entities == ()
    await home.close()

    stranger = Broker("localhost", tls.port, USER, Secret(PASSWORD), tls=True)
    home = await started(stranger)
    assert home.problem == (
        "The certificate of the MQTT broker at localhost is not trusted. Set ca_file in the settings of mqtt."
    )
    await home.close()

    for name in ("missing.pem", "passwords"):
        ca_file = tls.ca_file.with_name(name)
        home = await started(Broker("localhost", tls.port, USER, Secret(PASSWORD), tls=True, ca_file=ca_file))
        said = f"{ca_file} is no certificate that I can read. Set ca_file in the settings of mqtt."
        assert home.problem == said
        await home.close()
    gc.collect()


@LEAVES_SOCKETS
async def test_a_broker_without_tls_is_reported(mosquitto: Mosquitto) -> None:
    home = await started(Broker("localhost", mosquitto.port, USER, Secret(PASSWORD), tls=True))
    assert home.problem in (
        f"There is no TLS at port {mosquitto.port} of localhost. Run edgevox home setup.",
        "The MQTT broker at localhost does not answer. See whether it is running.",
    )
    await home.close()
    gc.collect()


async def test_missing_read_permission_is_reported() -> None:
    """Mosquitto accepts every subscription, and then sends nothing; other brokers refuse."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while packet := await reader.read(4096):
            match packet[0] >> 4:
                case 1:
                    writer.write(b"\x20\x02\x00\x00")  # connected
                case 8:
                    writer.write(b"\x90\x05" + packet[2:4] + 3 * b"\x80")  # not subscribed
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    home = await started(Broker("127.0.0.1", server.sockets[0].getsockname()[1]))
    assert home.problem == ("The MQTT broker at 127.0.0.1 does not let us read homeassistant. Allow it to our user.")
    await home.close()
    server.close()


async def test_read_and_command_permissions_are_enough(tmp_path: Path) -> None:
    """The broker does not let us speak to ourselves, so the house is known when the time is up."""
    rights = ("read homeassistant/#", "write homeassistant/light/#", "readwrite porch/#")
    acl = "\n".join((f"user {USER}", *(f"topic {right}" for right in rights))) + "\n"
    server = Mosquitto(tmp_path, acl=acl)
    server.start()
    devices = Devices(server)
    devices.has("light/porch", {"name": "Porch", "cmd_t": "porch/set", "stat_t": "porch/state"})
    devices.answers("porch/set", lambda payload: {"porch/state": payload})
    await devices.connect()
    home = await started(server.broker(), timeout_s=1.0)
    assert home.problem == ""
    spoken = Spoken(home)
    assert await spoken.say("turn_on", name="porch") == "The porch is on."
    await home.close()
    await devices.disconnect()
    server.stop()


async def test_no_password_is_logged(mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("mqtt", "asyncio", "edgevox"):
        caplog.set_level(logging.DEBUG, logger=name)
    said: list[str] = []
    for password in (PASSWORD, "wr0ng-one"):
        broker = mosquitto.broker(password=password)
        home = await started(broker)
        said += [repr(broker), str(broker), repr(home), repr(vars(home)), home.problem]
        mosquitto.stop()
        await until(partial(_has_problem, home))
        said += [await refused(home), home.problem]
        mosquitto.start()
        await home.close()
    said += [f"{record.getMessage()} {record.args!r} {record.exc_info!r}" for record in caplog.records]
    assert any("CONNECT" in line for line in said)
    assert not [line for line in said if PASSWORD in line or "wr0ng-one" in line]


def _has_problem(home: MqttHome) -> bool:
    return bool(home.problem)


async def test_oversized_messages_are_dropped(spoken: Spoken, devices: Devices) -> None:
    for topic in ("tasmota_A1B2C3/stat/POWER", "homeassistant/switch/A1B2C3_RL_1/config"):
        await devices.publish(topic, "x" * 5_000_000)
    assert await spoken.say("turn_on", name="coffee machine") == "The coffee machine is on."


async def test_a_home_can_be_closed_and_started_again(mosquitto: Mosquitto) -> None:
    home = MqttHome(mosquitto.broker(), timeout_s=TIMEOUT_S)
    await home.close()
    await home.start()
    async with asyncio.timeout(SOON_S):
        await home.close()
        await home.close()
    assert home.problem == "I am not connected to the MQTT broker at localhost."
    assert await refused(home) == home.problem
    await home.start()
    assert home.problem == ""
    await home.close()
