from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edgevox.stt.decoding import DEFAULT_DECODE_OPTIONS, FULL_WINDOW_S, DecodeOptions

TAUGHT = DecodeOptions(margin_s=0.3, least_s=2.0, tail_s=0.0, least_seen_s=0.0, timestamps=False, name_tokens=64)


def test_a_command_is_first_tried_in_a_window_that_is_short_but_not_too_short() -> None:
    first = next(DEFAULT_DECODE_OPTIONS.windows_for(2.0))
    assert 6.0 < first.encoded_s < FULL_WINDOW_S / 3
    assert first.attended_s > first.encoded_s


def test_longer_speech_is_first_tried_in_little_more_than_itself() -> None:
    first = next(DEFAULT_DECODE_OPTIONS.windows_for(12.0))
    assert 12.0 < first.encoded_s < 14.0


def test_long_speech_gets_the_full_window_at_once() -> None:
    (only,) = DEFAULT_DECODE_OPTIONS.windows_for(27.0)
    assert only.encoded_s == FULL_WINDOW_S


def test_who_was_taught_so_needs_little_more_than_the_speech_and_no_tail() -> None:
    first = next(TAUGHT.windows_for(2.0))
    assert 2.0 < first.encoded_s == first.attended_s < 3.0
    assert DEFAULT_DECODE_OPTIONS.has_tail
    assert not TAUGHT.has_tail


@given(st.sampled_from([DEFAULT_DECODE_OPTIONS, TAUGHT]), st.floats(min_value=0.1, max_value=28.0))
def test_windows_grow_hold_the_speech_and_end_with_all_of_it(decode_options: DecodeOptions, speech_s: float) -> None:
    windows = list(decode_options.windows_for(speech_s))
    encoded = [window.encoded_s for window in windows]
    assert encoded == sorted(set(encoded))
    assert encoded[0] > speech_s
    assert encoded[-1] == FULL_WINDOW_S
    assert all(window.encoded_s <= window.attended_s <= FULL_WINDOW_S for window in windows)
