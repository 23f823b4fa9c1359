"""The static rules of the man pages: what a case may not do unless it claims the refusal."""
