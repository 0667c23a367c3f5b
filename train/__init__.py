"""Decision trees: features, growing, model files, play and explanations."""
