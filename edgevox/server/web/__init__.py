"""The web page at `/` and the routes that feed it."""
