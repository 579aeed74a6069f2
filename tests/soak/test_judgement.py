"""What the soak of the whole program calls a leak, an explained restart and an explained error."""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import subprocess
from pathlib import Path

from edgevox.core.events import EngineChanged, RingStarted
from tests.soak.journal import Journal
from tests.soak.processes import ProcessSample, family, judge_lives, role_of
from tests.soak.program_faults import full_disk
from tests.soak.whole import added_s, rung_timers

# Files and shared memory, which are resident too.
_SHARED_MB = {"main": 60.0, "llm": 165.0, "stt": 195.0, "tts": 40.0}


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


def ninety_minutes(role: str, noise_mb: list[float], *, mb_per_h: float) -> list[ProcessSample]:
    """A life with the noise of a real one, again and again; five minutes more, which count as its start."""
    values = itertools.islice(itertools.cycle(noise_mb), 190)
    return [
        ProcessSample(600.0 + 30 * at, role, 1, mb + mb_per_h * at / 120 + _SHARED_MB[role], 0.0, mb, 40, 15)
        for at, mb in enumerate(values)
    ]


def test_the_noise_of_real_processes_is_flat_and_a_leak_of_30_mb_per_h_behind_it_is_not() -> None:
    """The noise is the second half of each long life in two hours of use of the whole program."""
    for noise in json.loads((Path(__file__).parent / "memory_noise.json").read_text(encoding="utf-8")):
        role, noise_mb = noise["role"], noise["anon_mb"]
        assert is_flat(ninety_minutes(role, noise_mb, mb_per_h=0.0)), role
        assert not is_flat(ninety_minutes(role, noise_mb, mb_per_h=30.0)), role


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


def test_new_settings_do_not_explain_an_internal_error(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with journal.fault("settings changed"):
        journal.error("chat", journal.now_s, "UnexpectedAnswer: 503 the server is shutting down")
        journal.error("chat", journal.now_s, "UnexpectedAnswer: 500 internal error")
    assert [error["detail"] for error in journal.errors] == ["UnexpectedAnswer: 500 internal error"]


def test_a_sample_between_the_end_of_an_engine_and_its_restart_counts_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path)

    def seen(pid: int) -> None:
        journal.take_samples([ProcessSample(journal.now_s, "llm", pid, 0.0, 0.0, 0.0, 0, 0)])

    seen(1)
    with journal.fault("engine killed", "llm"):
        restarted(journal)
    for pid in (1, 2, 2):
        seen(pid)
    assert len(journal.restarts) == 1
    assert journal.loading == {"llm"}
    journal.take(EngineChanged(engine="llm", state="ready"))
    assert not journal.loading


def test_a_timer_that_rings_while_the_disk_is_full_has_rung(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.take(RingStarted(ring_id="1", kind="timer", text="The soak 3 timer is done."))
    assert rung_timers("The soak 2 timer is done.", *journal.ring_texts) == {"soak 2", "soak 3"}


def test_an_engine_that_ended_does_not_hide_the_load_of_the_program() -> None:
    assert added_s({1: 100.0, 2: 50.0}, {1: 110.0, 3: 4.0}) == 14.0


def test_a_question_to_the_sound_server_is_no_process_of_the_program(tmp_path: Path) -> None:
    for word, role in (("subscribe", "pactl"), ("get-default-source", "pactl question")):
        os.mkfifo(tmp_path / word)
        with (
            subprocess.Popen(["pactl", word], executable="/bin/sh", cwd=tmp_path) as process,
            (tmp_path / word).open("wb"),  # the shell reads it until it is closed
        ):
            assert role_of(process.pid, os.getpid()) == role


def test_a_child_that_starts_while_the_disk_is_full_can_write_afterwards() -> None:
    with subprocess.Popen(
        ["/bin/sh", "-c", "read _; sleep 30 & echo; wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        before = resource.prlimit(shell.pid, resource.RLIMIT_FSIZE)
        with full_disk(shell.pid):
            shell.stdin.write(b"\n")
            shell.stdin.flush()
            shell.stdout.readline()
            (_, child) = family(shell.pid)
            assert resource.prlimit(child, resource.RLIMIT_FSIZE) != before
        assert [resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in family(shell.pid)] == [before, before]
        for pid in (child, shell.pid):
            os.kill(pid, 9)
