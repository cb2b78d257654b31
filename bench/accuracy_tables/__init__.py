"""What `bench/accuracy.py` measures, and how.

repeated    one question with thousands of draws of noise: the exact numbers are read once
figures     what is said of the answers: error, half-width, coverage; goals and whether they are met
"""
