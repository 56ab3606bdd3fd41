"""What must survive: PostgreSQL (given or embedded), LangGraph's checkpoints, and the ledger."""
