"""A permission covers itself and, with a star, what is below it."""

from __future__ import annotations

import pytest

from edgevox.tools import LOCAL, Caller


@pytest.mark.parametrize(
    ("scopes", "scope", "may"),
    [
        ({"read"}, "read", True),
        ({"read"}, "act", False),
        ({"*"}, "home.locks", True),
        ({"home.*"}, "home.locks", True),
        ({"home.*"}, "home.locks.front", True),
        ({"home.*"}, "home", False),
        ({"home.locks"}, "home.lights", False),
        ({"home"}, "home.locks", False),
        ({"home*"}, "homely", False),
        (set(), "read", False),
    ],
)
def test_a_scope_covers_what_it_names(scopes: set[str], scope: str, may: bool) -> None:
    assert Caller("a", frozenset(scopes)).may(scope) == may


def test_whoever_is_in_the_room_may_do_everything() -> None:
    assert LOCAL.may("act")
    assert LOCAL.may("confirm")
