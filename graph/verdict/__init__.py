"""From a request and observations to a verdict: computed in three-valued logic, never asserted."""
