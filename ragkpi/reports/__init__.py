"""Tables and answers as data, and their renderers."""
