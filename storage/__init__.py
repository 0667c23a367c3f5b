"""The data set on disk: writing, reading, verifying and exporting labelled positions."""
