"""HTTP infrastructure: errors, authentication, middleware, request bodies, streaming, and the listener."""
