"""Ranks candidates: evidence, priors, order, reranking."""
