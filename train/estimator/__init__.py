"""ID3 with scikit-learn's interface, and Fisher's flowers to try it on."""
