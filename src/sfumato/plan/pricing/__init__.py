"""From a bound plan to a priced plan.

price          shares of epsilon, lattices and limits
currency       epsilon or rho, Laplace or Gaussian
key_discovery  the price of undeclared keys
"""
