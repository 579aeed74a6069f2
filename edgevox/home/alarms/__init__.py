"""Timers, alarms, reminders, schedules and watches: parsing of times, state, and what is due."""
