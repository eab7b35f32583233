"""Which measure tracks the quality of responses best."""
