"""A room with a microphone and a loudspeaker that are not there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from edgevox.audio.io.devices import rescan_devices
from edgevox.testing import NullSinks


@pytest.fixture(scope="session")
def sinks() -> Iterator[NullSinks]:
    with NullSinks() as sinks:
        yield sinks


@pytest.fixture
def room(sinks: NullSinks) -> Iterator[NullSinks]:
    """The null sinks, which are also what PortAudio finds in this process."""
    yield from _in_this_process(sinks)


@pytest.fixture
def fragile_room() -> Iterator[NullSinks]:
    """The same, of the test's own, to break."""
    with NullSinks() as sinks:
        yield from _in_this_process(sinks)


def _in_this_process(sinks: NullSinks) -> Iterator[NullSinks]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in sinks.environment.items():
            patch.setenv(name, value)
        rescan_devices()
        yield sinks
    rescan_devices()
