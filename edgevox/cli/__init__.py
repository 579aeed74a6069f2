"""The `edgevox` command. Each sub-command is one module with `add_arguments` and `run`."""
