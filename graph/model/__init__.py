"""A chat model, where one is configured: opened by name, bounded in calls, tokens, time and money, never trusted."""
