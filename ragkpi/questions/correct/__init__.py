"""What people would say over all queries, from few of their judgements."""
