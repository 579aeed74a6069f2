# Two commands do everything: `make run` and `make test`. Each sets up what is missing first.
.PHONY: run test lint setup setup-dev wheel bench

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
