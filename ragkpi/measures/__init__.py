"""Every measure: one pure function of `Judged`, its docstring the help text, one registry line."""
