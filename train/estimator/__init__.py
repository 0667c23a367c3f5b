"""ID3 with scikit-learn's interface, and the iris data."""
