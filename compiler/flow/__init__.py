"""The flow of pages: which stage feeds which, how many pages pass, and what each of them holds.

It follows from a program alone and assumes nothing of how it was made, so the validator, the
checker, the performance model and the hardware all take it from here.
"""
