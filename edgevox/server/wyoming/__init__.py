"""EdgeVox as a Wyoming server: ear, voice and tools for Home Assistant."""
