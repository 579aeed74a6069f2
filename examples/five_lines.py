from edgevox import open_assistant

with open_assistant() as ask:
    print(ask("Turn on the kitchen light."))
    print(ask("Is the kitchen light on?"))
