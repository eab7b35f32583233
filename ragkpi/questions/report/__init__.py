"""One HTML page with the runs, queries and documents of an evaluation."""
