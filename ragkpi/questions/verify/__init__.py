"""Whether a stored result follows from the files that it names."""
