"""The number of threads of an engine: a plan per machine, and fewer while other processes use the cores."""

from __future__ import annotations

import pytest

from edgevox.engines import threads
from edgevox.engines.threads import FreeCoreMonitor


class Machine:
    """A clock and the CPU time of all processes, as a test sets them; this process uses none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at_s = 0.0
        self.used_s: float | None = 0.0
        monkeypatch.setattr("edgevox.engines.threads.time.monotonic", lambda: self.at_s)
        monkeypatch.setattr("edgevox.engines.threads.time.process_time", lambda: 0.0)
        monkeypatch.setattr(threads, "machine_cpu_s", lambda: self.used_s)

    def go_on(self, seconds: float, *, busy_cores: float) -> None:
        assert self.used_s is not None
        self.at_s += seconds
        self.used_s += seconds * busy_cores


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_an_idle_machine_leaves_every_core(machine: Machine) -> None:
    watch = FreeCoreMonitor(4)
    machine.go_on(1.0, busy_cores=0.3)  # what wakes for a moment
    assert watch.free() == 4


def test_cores_used_by_other_processes_are_not_free(machine: Machine) -> None:
    watch = FreeCoreMonitor(4)
    machine.go_on(0.1, busy_cores=2)
    assert watch.free() == 2
    machine.go_on(0.1, busy_cores=4)
    assert watch.free() == 1
    machine.go_on(0.1, busy_cores=0)
    assert watch.free() == 4


def test_an_interval_below_the_kernels_tick_changes_nothing(machine: Machine) -> None:
    watch = FreeCoreMonitor(2)
    machine.go_on(0.01, busy_cores=2)
    assert watch.free() == 2


def test_without_the_kernels_figures_all_cores_are_used(machine: Machine) -> None:
    machine.used_s = None
    watch = FreeCoreMonitor(2)
    machine.at_s += 1.0
    assert watch.free() == 2
