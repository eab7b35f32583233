"""Retriever or reranker: where each query lost its evidence."""
