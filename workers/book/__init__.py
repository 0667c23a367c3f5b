"""Building an opening book: its chunks, their files, and who solves them."""
