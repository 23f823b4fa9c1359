"""The formatter: the same words, comments and lines, with the spaces that all files have.

    text ──words──▶ lines of words ──spacing, columns, layout──▶ a column of each word ──format──▶ text, compared

It knows the words of a file and where its statements end, not its tree. Lines stay as their author broke them.
"""
