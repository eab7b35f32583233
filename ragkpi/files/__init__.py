"""From bytes to columns: opening, blocks of lines, tokens, decimals, one reader per format."""
