# A thin door to run.py, which also works without make: python run.py WORD.
# Further words go through ARGS: make notebooks ARGS="04", make lab ARGS="--no-browser".
# Another interpreter: make test PYTHON=python3.12
PYTHON ?= python3
ARGS ?=

.PHONY: help lab test check prove bench notebooks book lint
help:
	@$(PYTHON) run.py help

lab test check prove bench notebooks book lint:
	@$(PYTHON) run.py $@ $(ARGS)
