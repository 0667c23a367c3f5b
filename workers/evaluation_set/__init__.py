"""Making an evaluation set: where its positions come from, and who plays and solves them."""
