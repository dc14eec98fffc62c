"""What a model is told before it answers: blocks from many sources, within one budget, with a record of
omissions.
"""
