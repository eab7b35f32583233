"""What ragkpi does, as functions; the commands call the same. `ragkpi` offers them by name."""
