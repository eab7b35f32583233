"""How deep to retrieve: success against chance."""
