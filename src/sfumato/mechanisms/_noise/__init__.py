"""What several mechanisms share.

lattice    the lattice of real values
span       lattice points between bounds
noise      integer noise as a value
additive   noise added to a value
sums       how far sums of noises reach
choosing   one of several candidates
race       the largest score with exponential noise
threshold  keys above a threshold
"""
