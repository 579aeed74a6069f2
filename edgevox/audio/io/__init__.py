"""Microphones and loudspeakers: PortAudio devices and streams, recovery when a device is lost."""
