"""Whether a saved result is reproducible from the files that it names."""
