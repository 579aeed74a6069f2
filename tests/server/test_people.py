"""The routes that enrol, list, recognise and remove people."""

from __future__ import annotations

import base64
import dataclasses
from pathlib import Path

import httpx2 as httpx

from edgevox.agents.speaker_recognition import SpeakerRecognizer
from edgevox.audio.files import write_wav
from edgevox.config.sections import PeopleSettings
from edgevox.speakers.people import People
from tests.server.harness import OWNER, READER, model, served, talking
from tests.speakers.voices import FakeVoices, sound_of

ANNA, BEN, SILENCE = 7, 8, 0


def recording(folder: Path, number: int) -> str:
    write_wav(folder / "one.wav", [sound_of(number)])
    return base64.b64encode((folder / "one.wav").read_bytes()).decode()


async def test_a_person_is_enrolled_listed_recognised_and_removed(tmp_path: Path) -> None:
    people = People()
    speakers = SpeakerRecognizer(FakeVoices(), people, PeopleSettings())
    assistant = dataclasses.replace(talking(model([])), speakers=speakers)
    owner, reader = ({"Authorization": f"Bearer {token}"} for token in (OWNER, READER))
    async with served(assistant) as url, httpx.AsyncClient(base_url=f"{url}/v1", headers=owner, timeout=20) as client:
        given = {"name": "Anna", "recordings": [recording(tmp_path, ANNA)] * 3}
        added = await client.post("/people", json=given)
        assert (added.status_code, added.json().get("recordings")) == (200, 3), added.text
        listed = (await client.get("/people")).json()
        assert [person["name"] for person in listed["people"]] == ["Anna"]
        assert len(listed["sentences"]) == 3
        assert "embeddings" not in listed["people"][0]
        sounds = [{"recording": recording(tmp_path, number)} for number in (ANNA, BEN)]
        heard = [(await client.post("/people/recognise", json=sound)).json()["speaker"] for sound in sounds]
        assert heard == ["Anna", "guest"]
        silent = await client.post("/people", json=given | {"recordings": [recording(tmp_path, SILENCE)]})
        guest = await client.post("/people", json=given | {"name": "guest"})
        refused = await client.get("/people", headers=reader)
        assert (silent.status_code, guest.status_code, refused.status_code) == (400, 400, 403)
        gone = [(await client.delete("/people/anna")).status_code for _ in range(2)]
        assert gone == [200, 404]
        assert people.all() == ()
