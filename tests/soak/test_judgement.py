"""What the soak of the whole program calls a leak, an explained restart and an explained error."""

from __future__ import annotations

import random
from pathlib import Path

from edgevox.core.events import EngineChanged
from tests.soak.journal import Journal
from tests.soak.processes import ProcessSample, judge_lives


def two_hours(*, mb_per_h: float) -> list[ProcessSample]:
    """A process of 200 MB with noise and peaks, sampled every half minute."""
    chance = random.Random(1)
    samples = []
    for at_s in range(0, 7200, 30):
        peak_mb = 80.0 if chance.random() < 0.1 else 0.0
        rss_mb = 200.0 + mb_per_h * at_s / 3600 + chance.uniform(-2, 2) + peak_mb
        samples.append(ProcessSample(float(at_s), "main", 1, rss_mb, rss_mb, rss_mb, 40, 15))
    return samples


def is_flat(samples: list[ProcessSample]) -> bool:
    (life,) = judge_lives(samples, warm_up_s=900, min_life_s=1200)
    return bool(life["is_flat"])


def restarted(journal: Journal) -> None:
    journal.take(EngineChanged(engine="llm", state="restarting", detail="llm stopped while idle"))


def test_peaks_are_flat_and_a_slow_leak_is_not() -> None:
    assert is_flat(two_hours(mb_per_h=0.0))
    assert not is_flat(two_hours(mb_per_h=10.0))


def test_what_an_engine_needs_once_is_no_leak() -> None:
    filled = [
        ProcessSample(one.at_s, "llm", 1, one.rss_mb - max(0.0, 2000 - one.at_s) / 20, one.pss_mb, one.anon_mb, 40, 15)
        for one in two_hours(mb_per_h=0.0)
    ]
    assert is_flat(filled)


def test_a_process_that_lived_for_some_minutes_is_not_judged() -> None:
    assert judge_lives(two_hours(mb_per_h=0.0)[:60], warm_up_s=900, min_life_s=1200) == []


def test_one_blow_explains_one_restart(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with journal.fault("engine killed", "llm"):
        restarted(journal)
    assert journal.unexplained_restarts() == []
    restarted(journal)
    assert len(journal.unexplained_restarts()) == 1


def test_a_restart_is_not_explained_by_a_blow_to_another_engine(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with journal.fault("engine killed", "tts"):
        restarted(journal)
    assert len(journal.unexplained_restarts()) == 1


def test_a_time_limit_on_a_starved_machine_is_told_apart_and_a_crash_is_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.others_share = 0.95
    journal.take(EngineChanged(engine="llm", state="restarting", detail="llm stopped answering within 15 s"))
    assert journal.unexplained_restarts() == []
    restarted(journal)
    assert len(journal.unexplained_restarts()) == 1


def test_an_error_is_explained_only_by_a_fault_after_which_it_comes(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with journal.fault("microphone pulled out"):
        journal.error("speech", journal.now_s, "no answer in time")
        assert journal.errors == []
        journal.error("chat", journal.now_s, "500 internal error")
    assert [error["what"] for error in journal.errors] == ["chat"]
