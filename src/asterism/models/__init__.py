"""Models and the clients of remote ones: embedding, reranking, language models."""
