"""Fair engine access: round-robin lock, retry reservations after 429, local speaker first."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from edgevox.core.events import Event, SpeechDropped, SpeechStarted, TurnEnded, TurnStarted

_MAX_RESERVATIONS = 256
_MAX_SERVED = 256
# Tolerance for late retries.
_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class ClientKey:
    """Identifies a client by its connection and by a fingerprint of its request.

    A rejected client may retry on another connection with the same request. Other clients may send the same
    request, so the fingerprint alone matches only a reservation that is due. `caller` is the name of its token.
    """

    connection: str
    request: str
    caller: str = ""


@dataclass(slots=True)
class RetryReservation:
    client_key: ClientKey
    due_s: float
    """Time of its Retry-After."""


class RetryReservations:
    """Keeps queue order for clients that received 429; a reservation expires shortly after it is due."""

    def __init__(self) -> None:
        self._reservations: list[RetryReservation] = []
        self._served: dict[str, None] = {}
        """Connections whose last request was admitted: their next request is new, even if it looks the same."""

    def ahead_of(self, client_key: ClientKey | None, now_s: float) -> int:
        """Count the reservations before that of this client; all, if it has none."""
        reservation = self._of(client_key, now_s)
        return len(self._reservations) if reservation is None else self._reservations.index(reservation)

    def hold(self, client_key: ClientKey, now_s: float, due_s: float) -> None:
        """Add or update a reservation; an existing one keeps its position."""
        if (reservation := self._of(client_key, now_s)) is not None:
            reservation.client_key, reservation.due_s = client_key, due_s
        elif len(self._reservations) < _MAX_RESERVATIONS:
            self._reservations.append(RetryReservation(client_key, due_s))
        self._served.pop(client_key.connection, None)

    def use(self, client_key: ClientKey, now_s: float) -> None:
        """Remove the reservation of an admitted client."""
        if (reservation := self._of(client_key, now_s)) is not None:
            self._reservations.remove(reservation)
        self._served.pop(client_key.connection, None)
        self._served[client_key.connection] = None
        if len(self._served) > _MAX_SERVED:
            del self._served[next(iter(self._served))]

    def drop_expired(self, now_s: float) -> None:
        self._reservations = [reservation for reservation in self._reservations if reservation.due_s + _GRACE_S > now_s]

    def _of(self, client_key: ClientKey | None, now_s: float) -> RetryReservation | None:
        if client_key is None:
            return None
        for reservation in self._reservations:
            if reservation.client_key.connection == client_key.connection:
                return reservation
        due = (one for one in self._reservations if one.due_s <= now_s and one.client_key.request == client_key.request)
        return None if client_key.connection in self._served else next(due, None)


class RoundRobinLock:
    """Lock for one event loop that alternates between clients, so that heavy users do not starve others."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._is_taken = False
        self._is_held = False

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def turn(self, client_name: str, *, goes_on: bool = False) -> AsyncIterator[None]:
        """Hold the lock during the block; a client that `goes_on` resumes and comes first."""
        if self._is_taken or self._is_held or self._waiting:
            await self._wait(client_name, is_next=goes_on)
        while self._is_held:  # set after the lock was granted
            self._is_taken = False
            await self._wait(client_name, is_next=True)
        self._is_taken = True
        try:
            yield
        finally:
            self._is_taken = False
            self._next()

    def hold(self) -> None:
        """Grant no more turns until `release`."""
        self._is_held = True

    def release(self) -> None:
        self._is_held = False
        self._next()

    async def _wait(self, client_name: str, *, is_next: bool) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if is_next:
            own = self._waiting.pop(client_name, deque())
            own.appendleft(place)
            self._waiting = {client_name: own, **self._waiting}
        else:
            self._waiting.setdefault(client_name, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._is_taken = False
                self._next()  # granted, but cancelled
            else:
                own = self._waiting.get(client_name, deque())
                if place in own:
                    own.remove(place)
                    if not own:
                        del self._waiting[client_name]
            raise

    def _next(self) -> None:
        while self._waiting and not (self._is_taken or self._is_held):
            client_name = next(iter(self._waiting))
            places = self._waiting.pop(client_name)
            place = places.popleft()
            if places:
                self._waiting[client_name] = places  # behind the others
            if not place.done():  # a waiter that is cancelled leaves the queue a moment later
                self._is_taken = True
                place.set_result(None)


_SPEECH_S = 60.0
"""Speech without any further event counts no longer than this."""


class LocalSpeakerPriority:
    """Calls `began` when the local speaker starts to be served, and `ended` afterwards."""

    def __init__(self, began: Callable[[], None], ended: Callable[[], None], *, speech_s: float = _SPEECH_S) -> None:
        self._began = began
        self._ended = ended
        self._speech_s = speech_s
        self._speech: asyncio.TimerHandle | None = None
        self._turns: set[str] = set()
        self.is_busy = False

    def on_event(self, event: Event) -> None:
        """Handle an event; must be called in the event loop."""
        match event:
            case SpeechStarted():
                self._set_speech(asyncio.get_running_loop().call_later(self._speech_s, self._set_speech, None))
            case SpeechDropped():
                self._set_speech(None)
            case TurnStarted(source=source) if source != "api":
                self._turns.add(event.turn_id)
                self._set_speech(None)
            case TurnEnded():
                self._turns.discard(event.turn_id)
                self._update()

    def _set_speech(self, timer: asyncio.TimerHandle | None) -> None:
        if self._speech is not None:
            self._speech.cancel()
        self._speech = timer
        self._update()

    def _update(self) -> None:
        is_busy = self._speech is not None or bool(self._turns)
        if is_busy != self.is_busy:
            self.is_busy = is_busy
            (self._began if is_busy else self._ended)()
