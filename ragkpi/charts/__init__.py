"""Charts as data, and pictures of them through matplotlib."""
