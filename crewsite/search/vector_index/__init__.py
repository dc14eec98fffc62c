"""The vector leg: per collection a base that faiss searches, and the changes that came after it.

Vector rows are the truth. Everything here can be thrown away at any time and is read from them again.
"""
