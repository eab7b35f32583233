"""Which measure tracks the quality of responses best, and with which alpha."""
