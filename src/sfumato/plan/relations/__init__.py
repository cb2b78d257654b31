"""What stands after FROM, as rows that belong to units.

relation  private rows: how they are made, and whose they are
rows      FROM and WHERE of a question
scope     what names mean
grouping  sub-queries that aggregate
joins     joins by the unit, and with public tables
matching  how a private row finds public rows
union     UNION ALL
describe  the same in words, for explain
"""
