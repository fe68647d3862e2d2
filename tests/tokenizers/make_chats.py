"""Renders the chat templates in this folder with Jinja2, configured as transformers does it.

    python make_chats.py > chats.json

The environment follows transformers.utils.chat_template_utils of transformers 5.23.0: a sandbox that
changes nothing, trimmed blocks, break and continue, `generation` blocks, and its own `tojson`.
"""

import json
import pathlib
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(jinja2.ext.Extension):
    """A block around what the model has written; it leaves it as it is."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_written")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _written(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.TemplateError(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def environment():
    result = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[Generation, jinja2.ext.loopcontrols],
    )
    result.filters["tojson"] = to_json
    result.globals["raise_exception"] = raise_exception
    return result


SIGNS = {"bos_token": "<s>", "eos_token": "</s>"}

USER = {"role": "user", "content": "  Why is the sky blue?\n"}
SYSTEM = {"role": "system", "content": "Answer in one line. "}
ANSWER = {"role": "assistant", "content": "<think>\nLight.\n</think>\n\n It scatters. "}
THOUGHT = {"role": "assistant", "content": "Dust.", "reasoning_content": "So it is\nred.", "thinking": "So it is\nred."}
LAST = {"role": "user", "content": "Thanks.\n\nAnd on Mars?"}
AGAIN = {"role": "user", "content": "And \"red\" at dusk? 🌇 {{ no template }}"}
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Reads the weather of a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}
# OpenAI's API writes the arguments as JSON; templates get them as an object, as from vLLM.
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"place": "Tromsø", "days": [1, 2.5, null, true]}'},
}
CALLS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT = {"role": "tool", "content": '{"rain": false}', "tool_call_id": "call_1", "name": "weather"}

CHATS = {
    "a question": [USER],
    "a system text": [SYSTEM, USER],
    "a second question": [USER, ANSWER, AGAIN],
    "all of it": [SYSTEM, USER, ANSWER, AGAIN],
    "an answer": [USER, ANSWER],
    "two questions at once": [USER, AGAIN],
    "three turns": [USER, ANSWER, AGAIN, THOUGHT, LAST],
    "three turns after a system text": [SYSTEM, USER, ANSWER, AGAIN, THOUGHT, LAST],
    "three turns and an answer": [USER, THOUGHT, AGAIN, ANSWER, LAST, THOUGHT],
    "tools": {"messages": [SYSTEM, USER], "tools": [TOOL]},
    "a call": {"messages": [USER, CALLS, RESULT], "tools": [TOOL]},
    "a call and a question": {"messages": [USER, CALLS, RESULT, ANSWER, LAST], "tools": [TOOL]},
}


def as_given_to_templates(message):
    calls = message.get("tool_calls")
    if not calls:
        return message

    def parsed(call):
        function = call["function"]
        return call | {"function": function | {"arguments": json.loads(function["arguments"])}}

    return message | {"tool_calls": [parsed(call) for call in calls]}


def cases(template):
    for name, chat in CHATS.items():
        request = chat if isinstance(chat, dict) else {"messages": chat}
        messages = [as_given_to_templates(message) for message in request["messages"]]
        for awaits_answer in (True, False):
            case = {"chat": name, "awaits_answer": awaits_answer}
            try:
                case["rendered"] = template.render(
                    messages=messages,
                    tools=request.get("tools"),
                    documents=None,
                    add_generation_prompt=awaits_answer,
                    **SIGNS,
                )
            except jinja2.TemplateError as error:
                case["refused"] = str(error)
            yield case


def main():
    folder = pathlib.Path(__file__).parent / "templates"
    jinja = environment()
    fixture = {
        "made_with": {"jinja2": jinja2.__version__, "python": sys.version.split()[0]},
        "special_tokens": SIGNS,
        "chats": CHATS,
        "templates": {
            path.stem: list(cases(jinja.from_string(path.read_text(encoding="utf-8"))))
            for path in sorted(folder.glob("*.jinja"))
        },
    }
    json.dump(fixture, sys.stdout, indent=1, ensure_ascii=False)
    print()


main()
