"""All measures: each a pure function of `Judged` whose docstring is its help text."""
