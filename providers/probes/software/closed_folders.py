"""Shell lines that tell a folder that is not there from one that cannot be looked at: what is closed is not absent."""

from __future__ import annotations

__all__ = ["CLOSED"]

# Below a folder that may not be entered nothing is seen: the nearest one above that is there tells why.
CLOSED = r"""
closed() {
  case $1 in /*) ;; *) return 1 ;; esac
  above=$1
  while [ -n "$above" ] && [ ! -e "$above" ] && [ ! -L "$above" ]; do above=${above%/*}; done
  above=${above:-/}
  [ -d "$above" ] && [ ! -x "$above" ]
}
"""
"""Defines `closed PATH`, which ends with 0 where the path, or what is above it, may not be entered."""
