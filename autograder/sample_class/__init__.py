"""A small class of submissions: right, wrong, partial, damaged, hostile.

`students/*.toml` says what each did and what it must score; make.py turns
them into the files that learning platforms would deliver.
"""
