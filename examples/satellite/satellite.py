"""Sends a spoken question from another machine, and writes the spoken answer to a file.

    EDGEVOX_TOKEN=edgevox-… python satellite.py ws://house.lan:8790/v1/voice question.wav answer.wav

It needs one package (websockets) and no EdgeVox. question.wav is 16-bit mono PCM. The frames are described
in docs/guide/voice-socket.md.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import wave

from websockets.sync.client import ClientConnection, connect

CHUNK_S = 0.1
ANSWER_WITHIN_S = 120.0


def main(url: str, question: str, answer: str) -> None:
    with wave.open(question) as sound, wave.open(answer, "wb") as output, connect(url) as socket:
        if (sound.getnchannels(), sound.getsampwidth()) != (1, 2):
            sys.exit(f"{question} is not 16-bit mono PCM")
        rate_hz = sound.getframerate()
        hello = {"type": "hello", "version": 1, "token": os.environ["EDGEVOX_TOKEN"], "rate_hz": rate_hz}
        socket.send(json.dumps(hello))
        greeting = json.loads(socket.recv(ANSWER_WITHIN_S))
        output.setnchannels(1)
        output.setsampwidth(2)
        output.setframerate(greeting["play_rate_hz"])
        sender = threading.Thread(target=stream, args=(socket, sound), daemon=True)
        sender.start()
        receive(socket, output)
        sender.join()


def stream(socket: ClientConnection, sound: wave.Wave_read) -> None:
    """Send the file as a microphone would: in real time, and then the end of the sound."""
    pause = threading.Event()
    while chunk := sound.readframes(int(sound.getframerate() * CHUNK_S)):
        socket.send(chunk)
        pause.wait(CHUNK_S)
    socket.send(json.dumps({"type": "audio_end"}))


def receive(socket: ClientConnection, output: wave.Wave_write) -> None:
    """Print what happens until the turn ends, and report audio as played once it has been written."""
    passage = samples = 0
    while True:
        frame = socket.recv(ANSWER_WITHIN_S)
        if isinstance(frame, bytes):
            output.writeframes(frame)
            samples += len(frame) // 2
            socket.send(json.dumps({"type": "played", "passage": passage, "samples": samples}))
            continue
        match json.loads(frame):
            case {"type": "audio_begin", "passage": int(number)}:
                passage, samples = number, 0
            case {"type": "transcript", "final": True, "text": text}:
                print(f"heard: {text}")
            case {"type": "tool_call", "name": name, "arguments": arguments}:
                print(f"tool call: {name} {arguments}")
            case {"type": "confirmation_required", "question": question}:
                print(f"needs a confirmation: {question}")
            case {"type": "error", "message": message}:
                print(f"error: {message}", file=sys.stderr)
            case {"type": "done", "reply": reply}:
                print(f"reply: {reply}")
                return


if __name__ == "__main__":
    main(*sys.argv[1:4])
