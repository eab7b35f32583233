"""Descriptions of measures, formats and the schema, as texts and as rows."""

from dataclasses import dataclass

from ragkpi.library.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class Description(Result):
    """A description, as a text and as rows.

    Attributes
    ----------
    text
        The text that the command and ``str(result)`` print.
    """

    text: str = ""

    def __str__(self) -> str:
        return self.text
