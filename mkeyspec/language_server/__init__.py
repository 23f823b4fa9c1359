"""The language server: what an editor asks of a `.mks` file, answered by the compiler's own passes and tables.

Each feature is a module of pure functions, from a document to plain values whose places are offsets into its text.
`server` and `protocol_values` alone know the protocol.
"""
