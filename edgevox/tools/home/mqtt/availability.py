"""Whether a thing can be reached, as its availability topics say."""

from __future__ import annotations

from dataclasses import dataclass

from edgevox.tools.home.mqtt.announcement import Config
from edgevox.tools.home.mqtt.templates import Template


@dataclass(frozen=True, slots=True)
class _Source:
    topic: str
    template: Template | None
    available: str
    not_available: str


class Availability:
    """One or several topics. A thing that has none can always be reached; one that has is first heard of."""

    def __init__(self, config: Config) -> None:
        """Raises BadAnnouncement."""
        own = (_source(config, "availability_topic", "availability_template"),)
        listed = tuple(_source(part, "topic", "value_template") for part in config.parts("availability"))
        self._sources = tuple(source for source in (*own, *listed) if source is not None)
        self._mode = config.text("availability_mode", "latest")
        self._said: dict[str, bool] = {}
        self._latest = False

    @property
    def topics(self) -> frozenset[str]:
        return frozenset(source.topic for source in self._sources)

    def take(self, topic: str, payload: str) -> None:
        for source in self._sources:
            if source.topic != topic:
                continue
            text = payload if source.template is None else source.template.read(payload)
            if text in (source.available, source.not_available):
                self._latest = self._said[topic] = text == source.available

    @property
    def is_available(self) -> bool:
        if not self._sources:
            return True
        match self._mode:
            case "all":
                return all(self._said.get(topic, False) for topic in self.topics)
            case "any":
                return any(self._said.values())
            case _:
                return self._latest


def _source(config: Config, topic_key: str, template_key: str) -> _Source | None:
    if (topic := config.topic(topic_key)) is None:
        return None
    return _Source(
        topic,
        config.template(template_key),
        config.text("payload_available", "online"),
        config.text("payload_not_available", "offline"),
    )
