"""The colours that people name, as a light takes them."""

from __future__ import annotations

from typing import Any

# The names of CSS; Home Assistant takes a name it does not know for white.
_NAMES = frozenset(
    {
        "aliceblue", "antiquewhite", "aqua", "aquamarine", "azure", "beige", "bisque", "black",
        "blanchedalmond", "blue", "blueviolet", "brown", "burlywood", "cadetblue", "chartreuse",
        "chocolate", "coral", "cornflowerblue", "cornsilk", "crimson", "cyan", "darkblue", "darkcyan",
        "darkgoldenrod", "darkgray", "darkgreen", "darkgrey", "darkkhaki", "darkmagenta", "darkolivegreen",
        "darkorange", "darkorchid", "darkred", "darksalmon", "darkseagreen", "darkslateblue",
        "darkslategray", "darkslategrey", "darkturquoise", "darkviolet", "deeppink", "deepskyblue",
        "dimgray", "dimgrey", "dodgerblue", "firebrick", "floralwhite", "forestgreen", "fuchsia",
        "gainsboro", "ghostwhite", "gold", "goldenrod", "gray", "green", "greenyellow", "grey", "honeydew",
        "hotpink", "indianred", "indigo", "ivory", "khaki", "lavender", "lavenderblush", "lawngreen",
        "lemonchiffon", "lightblue", "lightcoral", "lightcyan", "lightgoldenrodyellow", "lightgray",
        "lightgreen", "lightgrey", "lightpink", "lightsalmon", "lightseagreen", "lightskyblue",
        "lightslategray", "lightslategrey", "lightsteelblue", "lightyellow", "lime", "limegreen", "linen",
        "magenta", "maroon", "mediumaquamarine", "mediumblue", "mediumorchid", "mediumpurple",
        "mediumseagreen", "mediumslateblue", "mediumspringgreen", "mediumturquoise", "mediumvioletred",
        "midnightblue", "mintcream", "mistyrose", "moccasin", "navajowhite", "navy", "oldlace", "olive",
        "olivedrab", "orange", "orangered", "orchid", "palegoldenrod", "palegreen", "paleturquoise",
        "palevioletred", "papayawhip", "peachpuff", "peru", "pink", "plum", "powderblue", "purple", "red",
        "rosybrown", "royalblue", "saddlebrown", "salmon", "sandybrown", "seagreen", "seashell", "sienna",
        "silver", "skyblue", "slateblue", "slategray", "slategrey", "snow", "springgreen", "steelblue",
        "tan", "teal", "thistle", "tomato", "turquoise", "violet", "wheat", "white", "whitesmoke", "yellow",
        "yellowgreen",
    }
)  # fmt: skip
_MORE = {"amber": [255, 191, 0], "mint": [62, 180, 137], "peach": [255, 203, 164], "lilac": [200, 162, 200]}
_WHITES_K = {
    "warmwhite": 2700,
    "softwhite": 2700,
    "warm": 2700,
    "white": 4000,
    "neutralwhite": 4000,
    "coolwhite": 5500,
    "coldwhite": 6500,
    "cool": 5500,
    "cold": 6500,
    "daylight": 6500,
}
_COLOURED = frozenset({"hs", "xy", "rgb", "rgbw", "rgbww"})


def colour_data(said: str, colour_modes: frozenset[str]) -> dict[str, Any] | None:
    """What turns a light with these modes into that colour: {} when it cannot, None when there is no such."""
    name = "".join(said.casefold().split()).replace("-", "")
    is_coloured = not _COLOURED.isdisjoint(colour_modes)
    if name in _WHITES_K and "color_temp" in colour_modes:
        return {"color_temp_kelvin": _WHITES_K[name]}
    if name in _NAMES:
        return {"color_name": name} if is_coloured else {}
    if name in _MORE:
        return {"rgb_color": _MORE[name]} if is_coloured else {}
    if name in _WHITES_K:
        # A coloured light mixes the white by itself.
        return {"color_temp_kelvin": _WHITES_K[name]} if is_coloured else {}
    return None
