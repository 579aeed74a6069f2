"""Satellites: devices that listen and speak in other rooms for one assistant.

`hub` is the server's list of them, `program` is EdgeVox itself as a satellite, `wyoming` and `esphome` connect devices
that speak those protocols.
"""
