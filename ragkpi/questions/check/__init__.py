"""`ragkpi check`: all mistakes and suspicions in a run, and the mended run."""
