"""The measure that tracks the quality of responses best."""
