"""Timers, alarms and reminders: when they are meant, what is kept of them, and what is due."""

from edgevox.tools.home.agenda.agenda import Agenda, Due

__all__ = ["Agenda", "Due"]
