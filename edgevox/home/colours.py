"""Colours of lights: names from `colours.toml`, and conversions between the colour models of lights."""

from __future__ import annotations

import colorsys
import math
import re
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from edgevox.core.files import packaged_toml
from edgevox.home.entities import HomeError
from edgevox.home.phrasing import brief

Rgb: TypeAlias = tuple[int, int, int]

_HEX = re.compile(r"#[0-9a-f]{6}")
_KELVIN = re.compile(r"(\d{4,5}) ?k(?:elvin)?")
_D65 = (0.3127, 0.3290)


@dataclass(frozen=True, slots=True)
class Colour:
    """A named colour. `kelvin` is the temperature of a white, `css_name` its name in CSS if it has one."""

    name: str
    rgb: Rgb
    kelvin: int | None
    css_name: str | None


def find_colour(spoken: str) -> Colour:
    """The colour of that name, however it is spaced, or of a "#rrggbb". Raises HomeError for an unknown one."""
    if _HEX.fullmatch(code := spoken.casefold().strip()):
        return Colour(code, _rgb(int(code[1:], 16)), None, None)
    name = " ".join(spoken.casefold().replace("-", " ").split())
    if found := _KELVIN.fullmatch(name):
        kelvin = int(found[1])
        return Colour(f"{kelvin} kelvin", from_kelvin(kelvin), kelvin, None)
    key, table = name.replace(" ", ""), _tables()
    for part in ("lights", "css", "whites"):
        if (rgb := table[part].get(key)) is not None:
            return Colour(name, _rgb(rgb), table["kelvin"].get(key), key if key in table["css"] else None)
    raise HomeError(f"I do not know the colour {brief(name)}. Try red, green, blue or white.")


def kelvin_of(colour: object) -> int | None:
    """The colour temperature of a colour's name; None for one that is no white."""
    try:
        return find_colour(str(colour)).kelvin
    except HomeError:
        return None


def from_kelvin(kelvin: float) -> Rgb:
    """The colour of a white, by Tanner Helland's fit of the black-body locus."""
    hundreds = min(400.0, max(10.0, kelvin / 100))
    red = 255 if hundreds <= 66 else 329.7 * (hundreds - 60) ** -0.1332
    green = 99.47 * math.log(hundreds) - 161.1 if hundreds <= 66 else 288.1 * (hundreds - 60) ** -0.0755
    blue = 255 if hundreds >= 66 else 0 if hundreds <= 19 else 138.5 * math.log(hundreds - 10) - 305.0
    return _from_shares(*(min(1.0, max(0.0, part / 255)) for part in (red, green, blue)))


def nearest_name(rgb: Rgb) -> str:
    """The spoken name of the nearest colour."""
    names = _tables()["spoken"]
    return min(names, key=lambda name: math.dist(_rgb(names[name]), rgb))


@cache
def _tables() -> dict[str, dict[str, int]]:
    """The tables of the file with keys without spaces, and `spoken`: the colours of lights as they are written."""
    tables = packaged_toml("home/colours.toml")
    joined = {part: {name.replace(" ", ""): value for name, value in table.items()} for part, table in tables.items()}
    return {**joined, "spoken": tables["lights"]}


def _rgb(number: int) -> Rgb:
    return number >> 16, number >> 8 & 255, number & 255


def to_hs(rgb: Rgb) -> tuple[float, float]:
    """Hue in degrees, saturation in percent."""
    hue, saturation, _ = colorsys.rgb_to_hsv(*(part / 255 for part in rgb))
    return round(hue * 360, 1), round(saturation * 100, 1)


def from_hs(hue: float, saturation: float) -> Rgb:
    return _from_shares(*colorsys.hsv_to_rgb(hue % 360 / 360, min(1.0, max(0.0, saturation / 100)), 1))


def to_xy(rgb: Rgb) -> tuple[float, float]:
    """CIE 1931, from sRGB."""
    red, green, blue = (_linear(part / 255) for part in rgb)
    x = 0.4124 * red + 0.3576 * green + 0.1805 * blue
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = 0.0193 * red + 0.1192 * green + 0.9505 * blue
    total = x + y + z
    return (round(x / total, 4), round(y / total, 4)) if total else _D65


def from_xy(x: float, y: float) -> Rgb:
    """At full brightness."""
    if y <= 0:
        return 0, 0, 0
    wide, deep = x / y, (1 - x - y) / y
    linear = (
        3.2406 * wide - 1.5372 - 0.4986 * deep,
        -0.9689 * wide + 1.8758 + 0.0415 * deep,
        0.0557 * wide - 0.2040 + 1.0570 * deep,
    )
    brightest = max(linear)
    return _from_shares(*(_curved(max(0.0, part / brightest)) for part in linear))


def _from_shares(red: float, green: float, blue: float) -> Rgb:
    return round(red * 255), round(green * 255), round(blue * 255)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _curved(part: float) -> float:
    return part * 12.92 if part <= 0.0031308 else float(1.055 * part ** (1 / 2.4) - 0.055)
