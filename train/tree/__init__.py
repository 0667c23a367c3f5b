"""Growing, pruning and exporting a decision tree."""
