"""The evaluation once more, slow and obvious, to hold the fast one against.

Nothing here is imported by ragkpi. Lines are split one by one, documents sorted as Python tuples,
and every measure is a loop over one ranking. Where trec_eval has a defect, the twin does what
ragkpi is to do.
"""
