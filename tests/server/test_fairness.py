"""A crowd that never ends: more ask than may wait, and nobody is unlucky for ever."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from contextlib import ExitStack

import pytest

from edgevox.server.errors import ApiError
from edgevox.server.work_queue import WorkQueue

CLIENTS, MAX_WAITING, WORK_S = 50, 16, 1.0


class Crowd:
    """Clients that always want something; time is counted, not waited for."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.queue = WorkQueue(max_waiting=MAX_WAITING, clock=lambda: self.now_s)
        self.answered: Counter[str] = Counter()
        self.longest_s = 0.0
        self._dice = random.Random(3)
        self._since_s = dict.fromkeys(map(str, range(CLIENTS)), 0.0)
        self._next = [(self._dice.random(), name) for name in self._since_s]
        self._admitted: list[tuple[str, ExitStack]] = []
        self._free_s = 0.0

    def run(self, until_s: float) -> None:
        while self.now_s < until_s:
            arrives_s = self._next[0][0] if self._next else float("inf")
            if self._admitted and self._free_s <= arrives_s:
                self._answer()
            else:
                self.now_s, name = heapq.heappop(self._next)
                self._arrive(name)

    def _arrive(self, name: str) -> None:
        place = ExitStack()
        try:
            place.enter_context(self.queue.place(name))
        except ApiError as refusal:
            # As clients do it: the time that they are told, and a little on top of it.
            self._come(name, float(refusal.headers["Retry-After"]) + self._dice.random())
            return
        if not self._admitted:
            self._free_s = self.now_s + WORK_S
        self._admitted.append((name, place))

    def _answer(self) -> None:
        self.now_s = self._free_s
        name, place = self._admitted.pop(0)
        place.close()
        self._free_s += WORK_S
        self.answered[name] += 1
        self.longest_s = max(self.longest_s, self.now_s - self._since_s[name])
        self._since_s[name] = self.now_s
        self._come(name, self._dice.random())

    def _come(self, name: str, after_s: float) -> None:
        heapq.heappush(self._next, (self.now_s + after_s, name))


def test_whoever_was_sent_away_is_served_before_whoever_was_just_served() -> None:
    crowd = Crowd()
    crowd.run(until_s=1000.0)
    # Each in turn would be answered every fifty seconds.
    assert crowd.longest_s < 2 * CLIENTS * WORK_S
    assert min(crowd.answered.values()) > 2 / 3 * max(crowd.answered.values())
    assert crowd.answered.total() > 970, "the engine did not wait for those who were to come back"


def test_a_place_is_kept_for_who_was_sent_away_but_not_for_ever() -> None:
    now_s = 0.0
    queue = WorkQueue(max_waiting=0, clock=lambda: now_s)
    with queue.place("at work"), pytest.raises(ApiError) as refusal:
        queue.check_room("sent away")
    with pytest.raises(ApiError), queue.place("newcomer"):
        pass
    with queue.place("sent away"):
        pass
    now_s += 2 * float(refusal.value.headers["Retry-After"]) + 60
    with queue.place("somebody else"):
        assert queue.admitted == 1
