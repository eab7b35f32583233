"""Rules that hold for every file and every command, each tried with many ways to break it."""
