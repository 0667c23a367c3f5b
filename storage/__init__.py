"""What a labelled position is on disk: written once, able to prove itself, open everywhere."""
