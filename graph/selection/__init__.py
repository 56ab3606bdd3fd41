"""Selection policies: one file for each; `rank.py` applies one and says why each proposal stands where it does."""
