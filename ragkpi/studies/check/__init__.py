"""`ragkpi check`: what is wrong or suspicious about a run, all of it, and the mended run."""
