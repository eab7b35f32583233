"""From columns to `Judged`: order, ties, duplicates, missing queries, -M and -J, applied once."""
