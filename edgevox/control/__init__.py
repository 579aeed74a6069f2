"""The control socket: how commands speak to the assistant that runs."""
