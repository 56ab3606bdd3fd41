"""Recipes: how applications are run, in small YAML files that users and centres keep (docs/recipes.md)."""
