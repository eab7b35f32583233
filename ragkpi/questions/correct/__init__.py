"""Estimates of human-judged values over all queries, from few human judgements."""
