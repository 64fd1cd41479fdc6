"""Boards that chips are built for, one TOML file each; ``hw.board.description`` reads them."""
