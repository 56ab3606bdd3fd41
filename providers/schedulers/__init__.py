"""Schedulers: one dialect a file, pure; the client does the input and output."""
