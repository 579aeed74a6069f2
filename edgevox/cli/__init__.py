"""The `edgevox` command: `main` picks a sub-command of `commands`; `ui` has what they show and read."""
