"""Whether to trust judgements: do they agree with others, and order runs alike."""
