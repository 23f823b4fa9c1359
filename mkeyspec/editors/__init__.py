"""The words of the language for programs that colour text: editors, and pages of documentation."""
