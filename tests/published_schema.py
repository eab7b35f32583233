"""Reports against the JSON schema that the package publishes."""

import json
from importlib.resources import files

import jsonschema

SCHEMA = json.loads((files("ragkpi.reports") / "schema.json").read_text())
LINE = {"$schema": SCHEMA["$schema"], "$ref": "#/$defs/line", "$defs": SCHEMA["$defs"]}


def valid_document(text):
    """Read a report; `jsonschema.ValidationError` if it is not as the schema has it."""
    return _valid(text, SCHEMA)


def valid_lines(text):
    """Read a report of JSON Lines in the same way."""
    return [_valid(line, LINE) for line in text.splitlines()]


def _valid(text, schema):
    found = json.loads(text, parse_constant=_refuse)
    checker = jsonschema.Draft202012Validator
    checker(schema, format_checker=checker.FORMAT_CHECKER).validate(found)
    return found


def _refuse(constant):
    raise AssertionError(f"{constant} is no JSON")
