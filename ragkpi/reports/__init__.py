"""Tables and answers as data, and the renderers that write any of them."""
