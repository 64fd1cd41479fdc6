"""The files that go into every package: a bench, and what runs it."""
