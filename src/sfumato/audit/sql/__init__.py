"""Audits of questions in SQL.

question        the audit
recorder        what would be released, on neighboring tables
neighborhood    the neighboring tables
taint_tracking  exact numbers that report who reads them
noise           whether noise is added to every number
cached_run      an engine's run from memory
simulation      choices that follow from a text
"""
