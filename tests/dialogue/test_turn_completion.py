"""Sentences as people say them and a recogniser writes them: which are whole, and which are not."""

from __future__ import annotations

import pytest

from edgevox.core.types import Transcript
from edgevox.dialogue.turn_completion import classify_completion, is_request

CERTAIN = """
Stop.
No, thank you.
Thank you.
Never mind.
Louder.
A bit quieter, please.
""".strip().splitlines()

WHOLE = """
Cancel.
Help.
Repeat that.
Turn on the kitchen lights.
turn off the lights in the living room
Turn the light on.
Turn it off.
switch them off please
Switch on the coffee machine, please.
Dim the bedroom lamp to 30%.
dim the bedroom lamp to thirty percent
Set the thermostat to 21 degrees.
Set a timer for ten minutes.
Set an alarm for 7 a.m.
Set the kitchen light to blue.
Wake me up at seven o'clock.
Open the garage door.
Close the blinds in the office.
Lock the back door.
Start the vacuum cleaner.
Mute the television.
Cancel the egg timer.
Stop the music.
Turn off everything.
Turn the heating down.
Turn the volume up.
Could you turn off the radio?
Can you please close the curtains?
Okay, turn on the fan.
Um, turn on the lamp.
Lights on.
Kitchen light off.
Make it warmer.
Turn up the heating by two degrees.
Yes.
No.
Good night.
What time is it?
What day is it today?
What's the weather like tomorrow?
Will it rain today?
Is the front door locked?
Is the light in the kitchen on?
Which windows are still open?
Are all of the doors locked?
How warm is it in the nursery?
What is the capital of France?
How many days are there in a week?
Why is the sky blue?
What is the tallest mountain in the world?
How do I boil an egg?
Who wrote Romeo and Juliet?
What is the largest ocean?
How many legs does a spider have?
What should I cook for dinner tonight?
Why do leaves fall in autumn?
What's on my shopping list?
Tell me a joke.
Read me the news.
Turn off the heating in the bathroom.
It is dark. Turn on the light.
Play some music.
Pause.
Is the lamp on?
What is the weather like?
Are the lights in the hall off?
Stop the timer.
Mute the radio, please.
""".strip().splitlines()

UNFINISHED = """
Turn on the
Turn on the.
Turn on
Turn off...
turn the
Switch on my
Set the
Set
Set the thermostat
Set the thermostat to
Set the kitchen light
Set a timer for
Set a timer for ten
Set a timer for 10.
Remind me
Remind me to
Remind me to call my
Wake me
Wake me at
Wake me up at half past
Add milk and
Add milk, eggs,
Add milk to the
Turn on the lights and
Turn on the lights in the
Turn on the light in
Turn on the light, um
Turn on the light in, uh,
Turn off the kitchen light and then
Turn off the kitchen light and turn
Turn on the lights in the kitchen and close
Dim the lamp by
Play some music in the
Play something by
Put the
Move my appointment to
Tell me
Tell me about
Tell me something about the
Show me the
What is
What is the
What's the
What is the capital of
How many
How much
How long
How do I
Who is
Where is my
When does the
Why is the
Is the
Is there any
Are the
Can you
Could you please tell me
I would like to
I want
I need to
Um
Uh, so
Okay, um,
The light in the
Because
And
To the
For
Open the front
Turn on the living
Make it a little
Switch it
Wake me up every
Turn the heating
Switch the lamp
Which windows are still
Send a message to Anna that
Send a message to
What is on my shopping
""".strip().splitlines()

UNCLEAR = """
Set the volume to four.
Set the brightness to 50.
Dim the lamp to thirty.
Wake me at seven.
Turn on the kitchen.
What is the capital?
What is the weather?
What is the temperature?
How many ounces?
Is the front door?
Is the kitchen light?
Add milk.
Remind me to call my mother.
Play some jazz.
Tell me something about the moon.
If nobody is home
The kitchen.
Philharmonic.
Send a message to Anna.
I am in the kitchen.
How far away is the sun?
What do bees make?
Where do penguins live?
Why is the sky?
How much time is left on
Turn off the lamp on
Set a timer.
Please.
Play.
Did you sleep well?
Before I go to bed, please.
I am leaving.
""".strip().splitlines()


@pytest.mark.parametrize("text", CERTAIN)
def test_behind_words_that_end_everything_nothing_comes(text: str) -> None:
    assert classify_completion(text) == "certain"


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_whole_is_known_to_be(text: str) -> None:
    assert classify_completion(text) == "whole"


@pytest.mark.parametrize("text", UNFINISHED)
def test_what_has_to_go_on_is_waited_for(text: str) -> None:
    assert classify_completion(text) == "unfinished"


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_may_be_whole_and_may_not_is_unclear(text: str) -> None:
    assert classify_completion(text) == "unclear"


def test_there_are_enough_examples_to_say_something() -> None:
    assert len({*WHOLE, *UNFINISHED, *UNCLEAR}) >= 150


@pytest.mark.parametrize("text", ["", "  ", ".", "…?", "ありがとう"])
def test_what_has_no_words_that_it_knows_is_not_taken_for_whole(text: str) -> None:
    assert classify_completion(text) == "unclear"


@pytest.mark.parametrize("text", [*CERTAIN, *WHOLE])
def test_a_mark_that_goes_on_makes_anything_unfinished(text: str) -> None:
    assert classify_completion(f"{text.rstrip('.?')},") == "unfinished"


@pytest.mark.parametrize("text", WHOLE)
def test_case_and_full_stops_say_nothing(text: str) -> None:
    assert classify_completion(text.casefold().rstrip(".?!")) == "whole"


REQUESTS = """
Turn on the kitchen lights.
And the lamp too.
and milk
Which windows are still open?
If nobody is home, turn off all of the lights.
no, the kitchen
a bit brighter
Thank you.
It's too bright in the study.
""".strip().splitlines()

TALK = """
I had a terrible day at work.
You know, what I did was, I went to the river and I sat there.
He was made still more respectable than he was.
kids are talking by the door
Good evening, and welcome back to the show.
Police say the alarm was disarmed shortly after midnight.
""".strip().splitlines()


def test_talk_is_told_from_requests_by_its_words() -> None:
    heard = {text: is_request(Transcript(text, "en", 2.0)) for text in (*REQUESTS, *TALK)}
    assert [text for text, is_asked in heard.items() if is_asked] == REQUESTS
    assert is_request(Transcript("Ich hatte einen schlimmen Tag.", "de", 2.0)), "only English is judged"


def test_the_names_of_the_home_make_a_fragment_a_request() -> None:
    names = ("Welder", "Big Bertha", "Terrarium")
    heard = ("Welder off.", "and Big Bertha to eleven", "the terrarium", "the welder was here when I had a bad day")
    unnamed, named = ([is_request(Transcript(text, "en", 2.0), known) for text in heard] for known in ((), names))
    assert unnamed == [False, False, False, False]
    assert named == [True, True, True, False]


def test_a_fragment_that_names_nothing_of_a_home_is_only_a_follow_up() -> None:
    fragments = ("Three red bags.", "We also need a small plate.", "and milk")
    assert all(is_request(Transcript(text, "en", 2.0)) for text in fragments)
    assert not any(is_request(Transcript(text, "en", 2.0), is_follow_up=False) for text in fragments)
    assert is_request(Transcript("no, the kitchen", "en", 2.0), is_follow_up=False)
