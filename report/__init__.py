"""How what was done, or is there, is shown: as records for machines, as text for people."""
