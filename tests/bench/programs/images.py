"""Images and signals."""
