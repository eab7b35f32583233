"""From `Scores` to text."""
