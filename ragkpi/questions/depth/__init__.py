"""How deep to retrieve, with success weighed against chance."""
