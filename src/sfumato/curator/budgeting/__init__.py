"""Cost and accuracy before a question is asked.

quote     the cost and the expected half-widths
within    the epsilon that a wanted half-width needs
planning  how many questions a budget allows
"""
