"""Queue fairness under sustained overload."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import Counter
from contextlib import ExitStack

import pytest

from edgevox.server.engine_queues import EngineQueue
from edgevox.server.http.errors import ApiError
from edgevox.server.scheduling import ClientKey

CLIENTS, MAX_WAITING, WORK_S = 50, 16, 1.0
# Of the programs' own libraries: aiohttp's is 15 seconds, httpx's 5.
CONNECTION_LASTS_S = 15.0


class Client:
    """Always wants something. Its connection is closed when it was silent for long, or it goes away."""

    def __init__(self, number: int, request: str, ports: itertools.count[int], lasts_s: float) -> None:
        self.number = number
        self._request = request
        self._ports = ports
        self._lasts_s = lasts_s
        self._silent_since_s = 0.0
        self._port = next(ports)

    def client_key(self, now_s: float) -> ClientKey:
        if now_s - self._silent_since_s > self._lasts_s:
            self._port = next(self._ports)
        return ClientKey(f"connection {self._port}", self._request)

    def is_silent(self, now_s: float) -> None:
        self._silent_since_s = now_s

    def goes_away(self, now_s: float) -> None:
        self._port = next(self._ports)
        self._silent_since_s = now_s


class Crowd:
    """Time is counted, not waited for; a share of the requests `leaves` before it is answered."""

    def __init__(self, *, lasts_s: float = CONNECTION_LASTS_S, leaves: float = 0.0, requests: int = CLIENTS) -> None:
        self.now_s = 0.0
        self.queue = EngineQueue(max_waiting=MAX_WAITING, clock=lambda: self.now_s)
        self.answered: Counter[int] = Counter()
        self.turns: Counter[int] = Counter()
        """How often each was let in; whoever then went away has used its turn."""
        self.longest_s = 0.0
        self._dice = random.Random(3)
        self._leaves = leaves
        ports = itertools.count(1)
        self._clients = [Client(number, f"request {number % requests}", ports, lasts_s) for number in range(CLIENTS)]
        self._since_s = dict.fromkeys(range(CLIENTS), 0.0)
        self._next = [(self._dice.random(), number) for number in range(CLIENTS)]
        heapq.heapify(self._next)
        self._admitted: list[tuple[int, ExitStack]] = []
        self._free_s = 0.0

    def run(self, until_s: float) -> None:
        while self.now_s < until_s:
            arrives_s = self._next[0][0] if self._next else math.inf
            if self._admitted and self._free_s <= arrives_s:
                self._answer()
            else:
                self.now_s, number = heapq.heappop(self._next)
                self._arrive(number)

    def _arrive(self, number: int) -> None:
        client, place = self._clients[number], ExitStack()
        try:
            place.enter_context(self.queue.place(client.client_key(self.now_s)))
        except ApiError as refusal:
            client.is_silent(self.now_s)
            # As clients do it: the time of Retry-After, and a little on top of it.
            self._come(number, float(refusal.headers["Retry-After"]) + self._dice.random())
            return
        self.turns[number] += 1
        if self._dice.random() < self._leaves:
            place.close()
            client.goes_away(self.now_s)
            self._come(number, self._dice.random())
            return
        if not self._admitted:
            self._free_s = self.now_s + WORK_S
        self._admitted.append((number, place))

    def _answer(self) -> None:
        self.now_s = self._free_s
        number, place = self._admitted.pop(0)
        place.close()
        self._free_s += WORK_S
        self.answered[number] += 1
        self.longest_s = max(self.longest_s, self.now_s - self._since_s[number])
        self._since_s[number] = self.now_s
        self._clients[number].is_silent(self.now_s)
        self._come(number, self._dice.random())

    def _come(self, number: int, after_s: float) -> None:
        heapq.heappush(self._next, (self.now_s + after_s, number))


@pytest.mark.parametrize("lasts_s", [math.inf, CONNECTION_LASTS_S, 0.0])
def test_rejected_clients_are_served_before_recently_served_ones(lasts_s: float) -> None:
    crowd = Crowd(lasts_s=lasts_s)
    crowd.run(until_s=1000.0)
    # Each in turn would be answered every fifty seconds.
    assert crowd.longest_s < 2 * CLIENTS * WORK_S
    assert min(crowd.answered.values()) > 2 / 3 * max(crowd.answered.values())
    assert crowd.answered.total() > 970, "the engine did not wait for those who were to come back"


@pytest.mark.parametrize("requests", [CLIENTS, 6])
def test_every_client_of_a_changing_crowd_is_served(requests: int) -> None:
    crowd = Crowd(leaves=0.3, requests=requests)
    crowd.run(until_s=1000.0)
    assert len(crowd.answered) == CLIENTS
    assert max(crowd.turns.values()) < 2 * min(crowd.turns.values())


def test_a_retry_after_429_is_admitted_when_due() -> None:
    crowd = Crowd()
    crowd.run(until_s=1000.0)
    assert crowd.queue.refused < 3 * crowd.answered.total()


def test_a_full_queue_of_one_token_does_not_shut_out_another() -> None:
    queue = EngineQueue(max_waiting=1)
    flood = [ClientKey(f"connection {number}", "request", "greedy") for number in range(3)]
    with queue.place(flood[0]), queue.place(flood[1]):
        with pytest.raises(ApiError):
            queue.check_capacity(flood[2])
        with queue.place(ClientKey("elsewhere", "request", "modest")):
            assert queue.admitted == 3
            with pytest.raises(ApiError):
                queue.check_capacity(ClientKey("elsewhere, too", "request", "modest"))


def client_key(name: str, request: str = "") -> ClientKey:
    return ClientKey(name, request or name)


def test_a_place_is_kept_for_who_was_sent_away_but_not_for_ever() -> None:
    now_s = 0.0
    queue = EngineQueue(max_waiting=0, clock=lambda: now_s)
    with queue.place(client_key("at work")), pytest.raises(ApiError) as refusal:
        queue.check_capacity(client_key("sent away"))
    with pytest.raises(ApiError), queue.place(client_key("newcomer")):
        pass
    with queue.place(client_key("sent away")):
        pass
    now_s += 2 * float(refusal.value.headers["Retry-After"]) + 60
    with queue.place(client_key("somebody else")):
        assert queue.admitted == 1


def test_who_was_sent_away_first_goes_first_on_whatever_connection_it_comes_back() -> None:
    now_s = 0.0
    queue = EngineQueue(max_waiting=0, clock=lambda: now_s)
    with queue.place(client_key("at work")):
        for name in ("first", "second"):
            with pytest.raises(ApiError):
                queue.check_capacity(client_key(name))
    with pytest.raises(ApiError), queue.place(client_key("second")):
        pass
    with pytest.raises(ApiError), queue.place(client_key("somebody else", request="first")):
        pass  # before it is due, the same request is another client's
    now_s += 2.0
    with queue.place(client_key("another connection", request="first")):
        assert queue.admitted == 1
    with queue.place(client_key("second")):
        assert queue.admitted == 1


def test_a_served_client_does_not_take_a_reservation_for_the_same_request() -> None:
    queue = EngineQueue(max_waiting=0)
    with queue.place(client_key("quick", request="same")), pytest.raises(ApiError):
        queue.check_capacity(client_key("patient", request="same"))
    with pytest.raises(ApiError):
        queue.check_capacity(client_key("quick", request="same"))
    with queue.place(client_key("patient", request="same")):
        assert queue.admitted == 1


def test_the_engine_does_not_wait_for_those_who_do_not_come_back() -> None:
    queue = EngineQueue(max_waiting=MAX_WAITING)
    with ExitStack() as places:
        for number in range(MAX_WAITING + 1):
            places.enter_context(queue.place(client_key(f"early {number}")))
        for number in range(MAX_WAITING + 1):
            with pytest.raises(ApiError):
                queue.check_capacity(client_key(f"gone {number}"))
    with queue.place(client_key("one")), queue.place(client_key("two")), queue.place(client_key("three")):
        with pytest.raises(ApiError):
            queue.check_capacity(client_key("four"))
        queue.check_capacity(client_key("gone 0"))
