"""The tables of the settings that are about the home: where it is, and how things ring in it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from edgevox.settings.section import Seconds, Section, Text, UserPath


class HomeSettings(Section):
    """The home that is run by voice."""

    kind: Literal["demo", "home_assistant", "mqtt"] = Field(
        default="demo", description="which home; edgevox home setup finds yours"
    )
    url: Text | None = Field(
        default=None,
        description="where Home Assistant is",
        examples=["http://homeassistant.local:8123"],
    )
    timeout_s: Seconds = Field(
        default=5.0, description="a home that does not answer in this time is told to the user"
    )
    max_things: int = Field(
        default=60,
        ge=10,
        le=1000,
        description="the model is told of this many things at most; of a larger home, of those that fit",
    )


class MqttSettings(Section):
    """The broker of a home that speaks MQTT; its password is asked for by edgevox home setup."""

    host: Text = Field(default="localhost", description="where the broker is")
    port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="1883, or 8883 with TLS, unless it is another",
        examples=[1883],
    )
    username: Text | None = Field(default=None, description="who we are to the broker", examples=["edgevox"])
    tls: bool = Field(default=False, description="speak to the broker over TLS")
    ca_file: UserPath | None = Field(
        default=None,
        description="the certificate to trust, for a broker that signs its own",
        examples=["~/broker-ca.pem"],
    )
    discovery_prefix: Text = Field(
        default="homeassistant", description="the topic under which things announce themselves"
    )


class RingSettings(Section):
    """Timers, alarms and reminders when they are due."""

    for_s: Seconds = Field(default=120.0, description="what nobody stops falls silent after this long")
    snooze_minutes: int = Field(default=9, ge=1, le=60, description="how long snooze is")
