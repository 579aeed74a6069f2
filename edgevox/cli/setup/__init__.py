"""The guided setup: `flow` orders `steps` and `sound_steps`, `session` keeps and shows, `machine` acts."""
