"""Whether judgements may be trusted: do they agree with others, and order runs alike."""
