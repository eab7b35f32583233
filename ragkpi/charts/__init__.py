"""Charts as data, and their two renderers: pictures through matplotlib, and plain text."""
