"""The home's state files that contain things people said, for `edgevox forget` and the memory's retention.

A new state file with such text belongs in this table.
"""

from __future__ import annotations

import time

from edgevox.core.state_file import WordStore
from edgevox.home.alarms.alarms import ALARMS_FILE, Alarms
from edgevox.home.alarms.timers import TIMERS_FILE, Timers
from edgevox.home.backends.demo import HOME_FILE, DemoHome
from edgevox.home.backends.local_lists import LISTS_FILE, forget_items

WORD_STORES = (
    WordStore(TIMERS_FILE, "timers", lambda path, is_forgotten: Timers(time.time, path).forget_words(is_forgotten)),
    WordStore(ALARMS_FILE, "timers", lambda path, is_forgotten: Alarms(time.time, path).forget_words(is_forgotten)),
    WordStore(HOME_FILE, "things", lambda path, is_forgotten: DemoHome(path).forget_words(is_forgotten)),
    WordStore(LISTS_FILE, "things", forget_items),
)
