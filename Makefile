# Two commands do everything: `make run` and `make test`. Each sets up what is missing first.
.PHONY: run test lint setup setup-dev wheel bench fuzz

VENV := .venv/bin

run: setup
	@$(VENV)/edgevox run $(ARGS)

test: setup-dev
	@script/lint
	@script/test $(ARGS)

lint: setup-dev
	@script/lint

# The set-up reads no input: what is piped into `make run` is for the assistant.
setup:
	@script/setup </dev/null >&2

setup-dev:
	@script/setup --dev </dev/null >&2

# The wheel in an empty environment, as a user gets it.
wheel: setup-dev
	@script/check-wheel

# Long runs; their results are kept in benchmarks/results with the hardware they ran on.
BENCHMARKS := footprint threads stt tts first_audio idle tool_parsing decode prefix constrained tool_overhead \
	tool_executor forced_calls cancels turn_memory
bench: setup-dev
	@for name in $(BENCHMARKS); do echo "--- $$name"; $(VENV)/python -m benchmarks.$$name || exit 1; done

SECONDS := 600
fuzz: setup-dev
	@$(VENV)/python -m fuzz.tool_parsers --seconds $(SECONDS)
