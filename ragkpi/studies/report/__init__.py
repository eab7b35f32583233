"""What a team looks at: runs, queries and documents of an evaluation on one page."""
