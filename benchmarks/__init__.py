"""Figures, as ratios within one run where possible. Each module is a command: python -m benchmarks.NAME."""
