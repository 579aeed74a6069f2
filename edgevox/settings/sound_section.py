"""The table of the settings that is about the sounds beside the voice's replies."""

from __future__ import annotations

from pydantic import Field

from edgevox.settings.section import Section


class SoundSettings(Section):
    """Signs that somebody was heard, when the reply is not there at once, and that something went wrong."""

    # Elsewhere a lamp shows that somebody was heard. Here a tone is all there is, and who has no sign says
    # it again, into the turn that is under way.
    chimes: bool = Field(
        default=True,
        description="a soft tone when you were understood, others when it was called or nothing came of it",
    )
    chime_volume: float = Field(
        default=0.15, gt=0, le=1, description="how loud those are; 1 is as loud as the loudspeaker can"
    )
    apologise: bool = Field(
        default=True, description='"Sorry, something went wrong." when an engine failed; false: only the tone'
    )
    acknowledge_after_s: float = Field(
        default=2.5, ge=0, le=60, description='"One moment." when the reply takes longer than this; 0: never'
    )
