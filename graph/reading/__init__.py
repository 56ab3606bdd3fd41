"""Reads a request in words, as a form or as a job script, by rules: no model, no I/O, the same answer every time."""
