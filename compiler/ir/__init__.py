"""The placed program: frozen dataclasses and tuples, names are identity."""
