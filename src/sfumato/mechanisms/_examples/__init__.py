"""What mechanisms share to answer for themselves.

example    a mechanism with two neighbors and all outputs, by which it is tested
apart      how far apart two inputs are
"""
