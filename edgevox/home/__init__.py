"""Smart home: entities, intents and their tools, target resolution, alarms, and backends."""

from __future__ import annotations

import time

from edgevox.core.events import DueAlarm
from edgevox.core.state_file import WordStore
from edgevox.home.alarms.alarms import ALARMS_FILE, Alarm, Alarms
from edgevox.home.alarms.schedule import AlarmSchedule
from edgevox.home.alarms.timers import TIMERS_FILE, Timers
from edgevox.home.alarms.watches import WATCHES_FILE, Watches
from edgevox.home.backends.demo import HOME_FILE, DemoHome
from edgevox.home.backends.local_lists import LISTS_FILE, forget_items
from edgevox.home.entities import Action, Area, ConnectedHome, Entity, Floor, Home, HomeError, House, ListItem, Verb
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.intents.tools import home_tools
from edgevox.home.prompt import HomePrompt
from edgevox.home.prompt_text import HOME_INSTRUCTIONS, HOME_PROMPT_VERSION, home_instructions, home_names, home_prompt
from edgevox.home.resolve.target_resolver import resolved_targets

__all__ = [
    "HOME_INSTRUCTIONS",
    "HOME_PROMPT_VERSION",
    "WORD_STORES",
    "Action",
    "Alarm",
    "AlarmSchedule",
    "Alarms",
    "Area",
    "ConnectedHome",
    "DemoHome",
    "DueAlarm",
    "Entity",
    "Floor",
    "Home",
    "HomeError",
    "HomePrompt",
    "House",
    "ListItem",
    "Timers",
    "Verb",
    "catalogue",
    "home_instructions",
    "home_names",
    "home_prompt",
    "home_tools",
    "resolved_targets",
]

WORD_STORES = (
    WordStore(TIMERS_FILE, "timers", lambda path, is_forgotten: Timers(time.time, path).forget_words(is_forgotten)),
    WordStore(ALARMS_FILE, "timers", lambda path, is_forgotten: Alarms(time.time, path).forget_words(is_forgotten)),
    WordStore(WATCHES_FILE, "timers", lambda path, is_forgotten: Watches(time.time, path).forget_words(is_forgotten)),
    WordStore(HOME_FILE, "things", lambda path, is_forgotten: DemoHome(path).forget_words(is_forgotten)),
    WordStore(LISTS_FILE, "things", forget_items),
)
"""Every state file of the home that contains a person's words, for `edgevox forget` and the memory's retention."""
