"""One right answer for each exercise, one module a lesson: what the folded solution shows.

Every function stands on its own, so that its text can be put into a notebook as it is.
"""
