"""Estimates from what was received: unbiased, with intervals; put in order; crossed; of several rounds."""
