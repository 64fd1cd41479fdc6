"""Boards as data: what each carries, one TOML file each, and the cables between them."""
