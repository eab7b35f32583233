"""How many queries: see `command`."""
