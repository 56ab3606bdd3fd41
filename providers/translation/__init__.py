"""Job scripts of one scheduler as scripts of another: directives, and what must change in the body."""
