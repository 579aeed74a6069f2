"""The guided setup: `steps` and `sound_steps` ask, `session` keeps and shows, `machine` acts."""
