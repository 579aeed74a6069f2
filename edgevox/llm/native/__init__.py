"""llama.cpp through its C API: vocabulary, context, sampling and constraints. Nothing else drives it."""
