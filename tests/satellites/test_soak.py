"""Bad Wi-Fi, for a moment; `python -m tests.satellites.soak` is the same for an hour."""

from __future__ import annotations

import pytest

from edgevox.core.files import Folders
from tests.satellites.soak import soak


@pytest.mark.long
async def test_no_turn_is_lost_when_connections_break(folders: Folders) -> None:
    result = await soak(folders, 15.0, cut_every_s=2.0)
    assert result.cuts > 0
    assert result.is_good, result
