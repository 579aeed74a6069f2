"""The formats that JSON Schema names, as patterns. Others say nothing about a text, as in the standard."""

from __future__ import annotations

_YEAR = r"(?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})"
_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    rf"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    rf"|02-(?:0[1-9]|1\d|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
# The standard wants an offset; people who are asked for a time mean that of the place where they are.
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?"
_LABEL = r"[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUP = r"[0-9A-Fa-f]{1,4}"
_IPV6 = "|".join(
    [
        rf"(?:{_GROUP}:){{7}}{_GROUP}",
        rf"(?:{_GROUP}:){{1,7}}:",
        *(rf"(?:{_GROUP}:){{1,{7 - tail}}}(?::{_GROUP}){{1,{tail}}}" for tail in range(1, 6)),
        rf"{_GROUP}:(?::{_GROUP}){{1,6}}",
        rf":(?::{_GROUP}){{1,7}}",
        "::",
    ]
)
_URI_CHARS = r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
_CLOCK = r"T(?:\d{1,6}H(?:\d{1,6}M(?:\d{1,6}S)?)?|\d{1,6}M(?:\d{1,6}S)?|\d{1,6}S)"
_DAYS = r"(?:\d{1,6}Y(?:\d{1,6}M(?:\d{1,6}D)?)?|\d{1,6}M(?:\d{1,6}D)?|\d{1,6}D)"

_HOSTNAME = rf"^{_LABEL}(?:\.{_LABEL})*$"
_EMAIL = rf"^{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})+$"
_URI = rf"^[A-Za-z][A-Za-z0-9+.-]*:{_URI_CHARS}+$"

FORMATS = {
    "date": f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "duration": rf"^P(?:\d{{1,6}}W|{_DAYS}(?:{_CLOCK})?|{_CLOCK})$",
    "email": _EMAIL,
    "idn-email": _EMAIL,
    "hostname": _HOSTNAME,
    "idn-hostname": _HOSTNAME,
    "ipv4": f"^{_IPV4}$",
    "ipv6": f"^(?:{_IPV6})$",
    "uri": _URI,
    "iri": _URI,
    "uuid": r"^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
    "json-pointer": r"^(?:/(?:[^~/]|~[01]){0,64}){0,16}$",
}
