"""Tools that ship with EdgeVox and do not need a home."""
