"""Submissions that try to gain points or do damage: see corpus.py."""
