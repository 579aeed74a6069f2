"""The commands, grouped by topic. A module lists its own in COMMANDS; there is no other table."""
