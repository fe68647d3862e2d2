#!/usr/bin/env python3
"""Runs what Ollama makes of `quartet settings --to ollama`, and compares it with Quartet.

    pip install xllamacpp
    cargo build --locked
    tests/interop/execute_ollama.py [QUARTET] [PANE...]

Ollama itself is not run. Since PR #16031 it passes GGUF files to llama-server. Its parser, defaults
and request were read at commit fb30760 (21 August 2026): `parser/parser.go`, `api/types.go`
(`FormatParams`, `DefaultOptions`) and `llm/llama_server.go` (`llamaServerCompletionRequest`,
`Completion`). `request_of` follows them, so for each pane the exported Modelfile becomes the body
that Ollama would post. The body goes to a llama-server that serves the built-in model, and its
answer is compared as comparing.py says. Unlike Ollama, the script asks for no stream and no cached
prompt. It does not repeat one rule: Ollama ends a text once 32 answers in a row have the same words.

Version of the last run: xllamacpp 2026.10.11549 (Linux x86-64). It is no part of the tests, because
those run without Python; without xllamacpp, it says so and ends with success.
"""

import importlib.util
import sys
from pathlib import Path

from comparing import N_CONTEXT, PANES, ROOT, Check, Counts, Quartet, Refusal, end
from llama_server import Answer, Server, log_of_the_library

# What Ollama posts if a model has no parameters of its own.
DEFAULTS = {
    "num_predict": -1, "num_keep": 4, "temperature": 0.8, "top_k": 40, "top_p": 0.9, "min_p": 0.0,
    "typical_p": 1.0, "repeat_last_n": 64, "repeat_penalty": 1.0, "frequency_penalty": 0.0,
    "presence_penalty": 0.0, "seed": -1, "stop": [],
}

# Open-ended texts are limited to this many contexts.
N_CONTEXTS = 10

# What the shared panes don't say: stop strings, and values at which a setting is off or missing.
MORE_PANES = [
    "typical-p 0",
    "top-p 0",
    "top-k 10, top-p 0.9, min-p 0.05, temp 0.8, dialect ollama",
    "repeat 1.2 last all, frequency 0.4 last all, presence 0.5 last all, temp 0.8",
    "repeat 1.3 last 0",
    "temp 0.9, top-k 20, top-p 0.9, dialect ollama-mlx",
]


def unquoted(text):
    """A parameter's value without its quotes."""
    for quote in ('"""', '"'):
        if text.startswith(quote):
            return text[len(quote):-len(quote)]
    return text


def options_of(modelfile):
    """The options that the parameters of a Modelfile set, over the defaults."""
    options = {**DEFAULTS, "stop": []}
    for line in modelfile.splitlines():
        instruction, name, value = line.split(" ", 2)
        if instruction != "PARAMETER" or name not in DEFAULTS:
            raise Refusal(f"unknown parameter {line!r}")
        value = unquoted(value)
        if name == "stop":
            options["stop"].append(value)
        else:
            options[name] = type(DEFAULTS[name])(value)
    return options


def request_of(options):
    """The body that Ollama posts to llama-server's `/completion`."""
    limit = N_CONTEXTS * N_CONTEXT
    n_predict = options["num_predict"]
    n_predict = n_predict if 0 <= n_predict <= limit else limit
    body = {"n_predict": n_predict, "n_keep": options["num_keep"], "stop": options["stop"]}
    named = ["temperature", "top_k", "top_p", "min_p", "repeat_penalty", "repeat_last_n",
             "frequency_penalty", "presence_penalty", "typical_p", "seed"]
    body.update((name, options[name]) for name in named)
    # These are left out when they are zero or empty.
    return {name: value for name, value in body.items()
            if value or name not in ("n_predict", "n_keep", "stop", "typical_p")}


def main():
    if importlib.util.find_spec("xllamacpp") is None:
        print("Not run: xllamacpp can't be imported (pip install xllamacpp)")
        return
    import xllamacpp
    program = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/quartet").resolve()
    # llama.cpp rounds the inputs of its matrix products to 8 bits.
    quartet, counts = Quartet(program, 8), Counts("Ollama")
    with log_of_the_library():
        server = Server(xllamacpp.CommonParams())
        for pane in sys.argv[2:] or PANES + MORE_PANES:
            modelfile, notes = quartet.exported(pane, "ollama")
            counts.add(Check(quartet, pane, notes, lambda prompt, modelfile=modelfile: Answer(
                server, {**request_of(options_of(modelfile)), "prompt": prompt})))
        del server
    end(counts)


main()
