"""What files are: their format, how they are read, and whether they go together."""
