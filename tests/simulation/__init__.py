"""How often the verdicts are wrong, and how often they come, in worlds whose truth is known."""
