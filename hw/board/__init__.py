"""Boards: what carries a chip, and what joins the boards of several."""
