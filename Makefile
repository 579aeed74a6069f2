# Two commands do everything: `make run` and `make test`. Each sets up what is missing first.
.PHONY: run test test-all test-newest-home lint docs setup setup-system setup-dev wheel deb bench fuzz soak soak-satellites power-cut llama-tests linux-voice-assistant train-smoke

VENV := .venv/bin

run: setup
	@$(VENV)/edgevox run $(ARGS)

test: setup-dev
	@script/lint
	@script/test $(ARGS)

# Also what takes long: soaks, minutes of speech, the agent frameworks in environments of their own.
test-all: setup-dev
	@script/lint
	@script/test --all

# The tests with a real Home Assistant, with the newest one that this Python takes; what people say to 270 things in it.
test-newest-home: setup-dev
	@script/home-assistant-newest
	@TEST_HASS=.home-assistant-newest/bin/hass $(VENV)/python -m pytest tests/home/backends/home_assistant -q
	@$(VENV)/python -m benchmarks.home_assistant_house --hass .home-assistant-newest/bin/hass

lint: setup-dev
	@script/lint

# The documentation as a site: open build/site/index.html, or `python3 -m http.server -d build/site` for its search.
docs: setup-dev
	@script/docs
	@echo build/site/index.html

# The set-up reads no input: what is piped into `make run` is for the assistant.
setup:
	@script/setup </dev/null >&2

setup-system:
	@script/setup --system </dev/null >&2

setup-dev:
	@script/setup --dev </dev/null >&2

# The wheel, in dist. script/check-wheel uses it in an empty environment, too.
wheel: setup-system
	@script/wheel

# A package for this distribution and processor, in dist.
deb: setup-system
	@script/deb

# Long runs; their results are kept in benchmarks/results with the hardware they ran on.
BENCHMARKS := footprint threads stt tts first_audio idle tool_parsing decode prefix_cache constrained_decoding tool_overhead \
	tool_executor forced_calls cancellation turn_memory command_turns endpointing noise server_load slow_clients server_overhead websocket_audio realtime \
	browser_audio
bench: setup-dev
	@for name in $(BENCHMARKS); do echo "--- $$name"; $(VENV)/python -m benchmarks.$$name || exit 1; done

# Hours of use in minutes, with faults: fails where a turn is lost from the records, or something hangs.
TURNS := 1000
soak: setup-dev
	@$(VENV)/python -m tests.soak --turns $(TURNS)

# Satellites on bad Wi-Fi: 5 % packet loss, and a connection that breaks every minute.
soak-satellites: setup-dev
	@$(VENV)/python -m tests.satellites.soak --minutes $(or $(MINUTES),60)

# Kills a program that writes state at random moments, then loses what it had not synced: fails where something acknowledged
# is lost, or it does not start.
ROUNDS := 200
power-cut: setup-dev
	@$(VENV)/python -m benchmarks.power_cut --rounds $(ROUNDS)
	@$(VENV)/python -m benchmarks.power_cut --rounds $(ROUNDS) --writer serve
	@$(VENV)/python -m benchmarks.unsynced_writes --cuts $(ROUNDS)

# An ESPHome device of others; its source is fetched from GitHub. Makes the recording anew that the tests replay.
linux-voice-assistant: setup-dev
	@$(VENV)/pytest -m "" tests/satellites/linux_voice_assistant.py

# llama.cpp's own server tests, as far as they apply (tests/server/llama_cpp_tests.toml); FOLDER is a checkout of it.
FOLDER :=
llama-tests: setup-dev
	@$(VENV)/python -m tests.server.llama_cpp_tests $(FOLDER)

SECONDS := 600
fuzz: setup-dev
	@$(VENV)/python -m fuzz.tool_parsers --seconds $(SECONDS)
	@$(VENV)/python -m fuzz.voice_socket --seconds $(SECONDS)
	@$(VENV)/python -m fuzz.boundaries --seconds $(SECONDS)

# Two steps of training on the processor: everything runs, nothing is learnt. The real one is in training/README.md.
train-smoke: setup-dev
	@$(VENV)/edgevox models pull smollm2-135m-instruct
	@$(VENV)/python -m training.llm.train --base "$$($(VENV)/edgevox models path --original smollm2-135m-instruct)" \
		--out build/train-smoke --steps 2 --rank 4 --rows 1 --row-tokens 256 --processes 1
