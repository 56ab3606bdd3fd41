"""The fault campaign: real processes, database and jobs, and something dying all the time (docs/campaign.md)."""
