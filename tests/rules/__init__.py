"""One file a rule: what holds everywhere, tried in every way to break it."""
