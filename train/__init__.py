"""Decision trees: features, weights, growing, model files, play and explanations."""
