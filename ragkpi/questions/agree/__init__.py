"""Agreement of judgements with others, on labels and on the order of runs."""
