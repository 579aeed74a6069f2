"""What engines on other machines have in common: waiting for them, and the Wyoming protocol."""
