"""The assistant as a service of the user's session: its unit, its readiness and its log."""
