"""The home: its tools, what they need of a home, and the demo home."""

from edgevox.tools.home.agenda.agenda import Agenda, Due
from edgevox.tools.home.agenda.alarms import Alarm, Alarms
from edgevox.tools.home.agenda.timers import Timer, Timers
from edgevox.tools.home.catalogue import CATALOGUE, HOME_TOOLS_VERSION
from edgevox.tools.home.choosing import targets
from edgevox.tools.home.demo import DemoHome
from edgevox.tools.home.home import Action, ConnectedHome, Home, HomeError, Verb
from edgevox.tools.home.home_tool import HomeTool
from edgevox.tools.home.house import Area, Entity, Floor, House, ListItem
from edgevox.tools.home.prompt import (
    HOME_INSTRUCTIONS,
    HOME_PROMPT_VERSION,
    home_instructions,
    home_names,
    home_prompt,
)
from edgevox.tools.home.told_home import ToldHome
from edgevox.tools.home.tools import home_tools

__all__ = [
    "CATALOGUE",
    "HOME_INSTRUCTIONS",
    "HOME_PROMPT_VERSION",
    "HOME_TOOLS_VERSION",
    "Action",
    "Agenda",
    "Alarm",
    "Alarms",
    "Area",
    "ConnectedHome",
    "DemoHome",
    "Due",
    "Entity",
    "Floor",
    "Home",
    "HomeError",
    "HomeTool",
    "House",
    "ListItem",
    "Timer",
    "Timers",
    "ToldHome",
    "Verb",
    "home_instructions",
    "home_names",
    "home_prompt",
    "home_tools",
    "targets",
]
