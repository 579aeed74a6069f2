"""Calendars: ICS files and CalDAV servers, and the spoken answers of all calendars."""
