"""Settings for all tests: property tests are repeatable and have no deadline, since machines differ."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
