"""Reports of runs. Independent of pytest, of devices and of the language.

record   the lines of a stream of results
writer   appends lines to a stream
reader   a stream, or several, as a `Run`
place    where streams are kept, and which is the newest
rows, provenance   what a report says of a row, and of a run
junit    JUnit XML, by the package junit-xml
text, annotations  for a terminal; for GitHub and GitLab
html     one page, of page/
compare, comparison_text   what differs between runs
"""
