"""EdgeVox: a voice assistant that lives on your own machine."""

__version__ = "0.1.0"
