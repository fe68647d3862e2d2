#!/usr/bin/env python3
"""Runs what `quartet settings` writes for llama-server and llama.cpp, and compares it with Quartet.

    pip install xllamacpp
    cargo build --locked
    tests/interop/execute_llama_cpp.py [QUARTET] [PANE...]

For each pane, the exported JSON is posted to a llama-server that serves the built-in model, and its
answer is compared as comparing.py says.

The exported flags are parsed by llama.cpp's own parser, and a server started from them must report
the settings of the JSON request and write the same text. xllamacpp exports the parser only as a C++
symbol, so it is called by its mangled name on the memory of a `CommonParams`; no other program of
llama.cpp is run.

Version of the last run: xllamacpp 2026.10.11549 (Linux x86-64). It is no part of the tests, because
those run without Python; without xllamacpp, it says so and ends with success.
"""

import ctypes
import importlib.util
import json
import os
import shlex
import struct
import sys
from pathlib import Path

from comparing import MODEL, PANES, ROOT, Check, Counts, Quartet, end
from llama_server import Answer, Server, log_of_the_library

# What the JSON can't say, or what is said by the request itself.
NOT_COMPARED = {"n_probs", "post_sampling_probs", "speculative.types"}


class FlagParser:
    """llama.cpp's own parser of command lines, as its server uses it."""

    SYMBOL = "_Z19common_params_parseiPPcR13common_params13llama_examplePFviS0_E"

    def __init__(self):
        import xllamacpp
        self.parse = ctypes.CDLL(xllamacpp.xllamacpp.__file__)[self.SYMBOL]
        self.parse.restype = ctypes.c_bool
        self.parse.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
                               ctypes.c_void_p]
        # Only a server has this flag.
        self.example = next(n for n in range(16) if self.parsed(["--slots"], n))

    def parsed(self, flags, example=None):
        """The parameters that the flags set, or None if the parser refuses one."""
        import xllamacpp
        params = xllamacpp.CommonParams()
        # The wrapper holds the C++ structure, which begins with these two.
        params.n_predict, params.n_ctx = -1234567, 7654321
        held = ctypes.string_at(id(params), type(params).__basicsize__)
        address = id(params) + held.index(struct.pack("<ii", params.n_predict, params.n_ctx))
        words = [word.encode() for word in ["llama-server", "--model", str(MODEL), *flags]]
        array = (ctypes.c_char_p * (len(words) + 1))(*words)
        example = self.example if example is None else example
        params.n_predict = -1
        return params if self.parse(len(words), array, address, example, None) else None


def check_flags(quartet, parser, check, log):
    """The outcome of a pane's flags, and how they differ from the JSON."""
    flags, notes = quartet.exported(check.pane, "llama.cpp")
    at = log.seek(0, os.SEEK_END)
    params = parser.parsed(shlex.split(flags))
    if params is None:
        log.seek(at)
        return "silent", [f"refused: {flags.strip()}", log.read().decode().strip()]
    differences = []
    if check.answer:
        answer = Server(params).complete({"prompt": check.prompt, "n_probs": 0})
        theirs, json_says = answer["generation_settings"], check.answer.settings
        for settings in (theirs, json_says):
            # The JSON says no breakers by an empty one, which the server ignores.
            breakers = settings["dry_sequence_breakers"]
            settings["dry_sequence_breakers"] = [text for text in breakers if text]
        differences += [
            f"{name} is {theirs.get(name)}, in JSON {json_says[name]}"
            for name in json_says
            if name not in NOT_COMPARED and theirs.get(name) != json_says[name]
        ]
        if answer["tokens"] != check.answer.tokens:
            differences.append(f"{answer['tokens']}, with JSON {check.answer.tokens}")
    return ("equal" if not differences else "told" if notes else "silent"), differences


def main():
    if importlib.util.find_spec("xllamacpp") is None:
        print("Not run: xllamacpp can't be imported (pip install xllamacpp)")
        return
    import xllamacpp
    program = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/quartet").resolve()
    # llama.cpp rounds the inputs of its matrix products to 8 bits.
    quartet = Quartet(program, 8)
    json_counts, flag_counts = Counts("JSON"), Counts("flags")
    with log_of_the_library() as log:
        server, parser = Server(xllamacpp.CommonParams()), FlagParser()
        for pane in sys.argv[2:] or PANES:
            body, notes = quartet.exported(pane, "llama-server")
            check = Check(quartet, pane, notes, lambda prompt, body=json.loads(body): Answer(
                server, {**body, "prompt": prompt}))
            json_counts.add(check)
            outcome, differences = check_flags(quartet, parser, check, log)
            flag_counts.count(outcome)
            for line in [f"flags {outcome}"] + differences[:3]:
                print(f"          {line}")
        del server
    end(json_counts, flag_counts)


main()
