"""Timers, alarms and reminders: parsing of times, state, and the schedule of what is due."""

from __future__ import annotations

from edgevox.core.events import DueAlarm
from edgevox.home.alarms.schedule import AlarmSchedule

__all__ = ["AlarmSchedule", "DueAlarm"]
