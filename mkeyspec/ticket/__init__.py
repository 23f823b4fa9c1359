"""What a vendor's support asks for: the calls of a row, counters, the kernel's log, and an archive of it.

It knows neither pytest nor the language, and devices by their protocol alone.
"""
