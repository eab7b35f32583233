"""ragkpi: trec_eval's numbers, and the ones that retrieval for language models needs."""

__version__ = "0.1.0"
