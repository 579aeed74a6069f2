"""Smart home: entities, intents and their tools, target resolution, alarms, and backends."""

from __future__ import annotations

from edgevox.core.events import DueAlarm
from edgevox.home.alarms.alarms import Alarm, Alarms
from edgevox.home.alarms.schedule import AlarmSchedule
from edgevox.home.alarms.timers import Timer, Timers
from edgevox.home.backends.demo import DemoHome
from edgevox.home.entities import Action, Area, ConnectedHome, Entity, Floor, Home, HomeError, House, ListItem, Verb
from edgevox.home.intents.catalogue import CATALOGUE, HOME_TOOLS_VERSION, HomeTool
from edgevox.home.intents.tools import home_tools
from edgevox.home.prompt import HomePrompt
from edgevox.home.prompt_text import HOME_INSTRUCTIONS, HOME_PROMPT_VERSION, home_instructions, home_names, home_prompt
from edgevox.home.resolve.target_resolver import resolved_targets

__all__ = [
    "CATALOGUE",
    "HOME_INSTRUCTIONS",
    "HOME_PROMPT_VERSION",
    "HOME_TOOLS_VERSION",
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
    "HomeTool",
    "House",
    "ListItem",
    "Timer",
    "Timers",
    "Verb",
    "home_instructions",
    "home_names",
    "home_prompt",
    "home_tools",
    "resolved_targets",
]
