"""Which measure tracks the quality of responses, and with which alpha."""
