"""Timers, alarms and reminders: parsing of times, state, and the schedule of what is due."""
