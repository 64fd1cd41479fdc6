"""Ways to multiply two lanes. All take the same number of cycles, so that a tile unit of any of
them keeps the same schedule."""
