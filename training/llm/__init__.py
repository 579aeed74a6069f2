"""Trains the home model: data loader, Llama with LoRA in PyTorch, training loop, adapter files, scores."""
