"""One file a rule: what holds of every number, and the ways in which it was broken."""
