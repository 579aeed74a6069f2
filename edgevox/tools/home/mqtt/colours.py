"""Colours by name, in the ways in which lights count them."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from typing import TypeAlias

Rgb: TypeAlias = tuple[int, int, int]

COLOURS: Mapping[str, Rgb] = {
    "amber": (255, 191, 0), "aqua": (0, 255, 255), "beige": (245, 245, 220), "black": (0, 0, 0),
    "blue": (0, 0, 255), "brown": (165, 42, 42), "coral": (255, 127, 80), "crimson": (220, 20, 60),
    "cyan": (0, 255, 255), "gold": (255, 215, 0), "gray": (128, 128, 128), "green": (0, 255, 0),
    "grey": (128, 128, 128), "indigo": (75, 0, 130), "ivory": (255, 255, 240), "khaki": (240, 230, 140),
    "lavender": (230, 230, 250), "light blue": (173, 216, 230), "light green": (144, 238, 144),
    "lilac": (200, 162, 200), "lime": (50, 205, 50), "magenta": (255, 0, 255), "maroon": (128, 0, 0),
    "mint": (152, 255, 152), "navy": (0, 0, 128), "olive": (128, 128, 0), "orange": (255, 165, 0),
    "peach": (255, 218, 185), "pink": (255, 105, 180), "purple": (128, 0, 128), "red": (255, 0, 0),
    "rose": (255, 0, 127), "salmon": (250, 128, 114), "silver": (192, 192, 192), "sky blue": (135, 206, 235),
    "tan": (210, 180, 140), "teal": (0, 128, 128), "turquoise": (64, 224, 208), "violet": (148, 0, 211),
    "white": (255, 255, 255), "yellow": (255, 255, 0),
}  # fmt: skip

# Whites that a lamp has a temperature for, in kelvin; and what stands for them where it has none.
WHITES: Mapping[str, int] = {"warm white": 2700, "white": 4000, "cool white": 6000, "cold white": 6000}
_AS_RGB: Mapping[str, Rgb] = {
    "warm white": (255, 180, 107),
    "cool white": (235, 240, 255),
    "cold white": (235, 240, 255),
}
_D65 = (0.3127, 0.3290)


def rgb_of(name: str) -> Rgb | None:
    """None for a colour that we do not know."""
    return COLOURS.get(name) or _AS_RGB.get(name)


def to_hs(rgb: Rgb) -> tuple[float, float]:
    """Hue in degrees, saturation in percent."""
    hue, saturation, _ = colorsys.rgb_to_hsv(*(part / 255 for part in rgb))
    return round(hue * 360, 1), round(saturation * 100, 1)


def from_hs(hue: float, saturation: float) -> Rgb:
    red, green, blue = colorsys.hsv_to_rgb(hue % 360 / 360, min(1.0, max(0.0, saturation / 100)), 1)
    return round(red * 255), round(green * 255), round(blue * 255)


def to_xy(rgb: Rgb) -> tuple[float, float]:
    """CIE 1931, from sRGB."""
    red, green, blue = (_linear(part / 255) for part in rgb)
    x = 0.4124 * red + 0.3576 * green + 0.1805 * blue
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = 0.0193 * red + 0.1192 * green + 0.9505 * blue
    total = x + y + z
    return (round(x / total, 4), round(y / total, 4)) if total else _D65


def from_xy(x: float, y: float) -> Rgb:
    """As bright as it can be."""
    if y <= 0:
        return 0, 0, 0
    wide, deep = x / y, (1 - x - y) / y
    linear = (
        3.2406 * wide - 1.5372 - 0.4986 * deep,
        -0.9689 * wide + 1.8758 + 0.0415 * deep,
        0.0557 * wide - 0.2040 + 1.0570 * deep,
    )
    brightest = max(linear)
    red, green, blue = (_curved(max(0.0, part / brightest)) for part in linear)
    return round(red * 255), round(green * 255), round(blue * 255)


def nearest_name(rgb: Rgb) -> str:
    """The colour that a lamp shows, in a word."""
    return min(COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(COLOURS[name], rgb, strict=True)))


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _curved(part: float) -> float:
    return part * 12.92 if part <= 0.0031308 else float(1.055 * part ** (1 / 2.4) - 0.055)
