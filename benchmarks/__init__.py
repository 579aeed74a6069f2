"""Figures, as ratios within one run where they can be. Each module is a command: python -m benchmarks.NAME."""
