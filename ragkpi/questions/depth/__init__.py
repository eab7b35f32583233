"""How deep to retrieve, with success compared with a random draw."""
