"""The software NIC: its library, its personalities, and how a process is started on it."""
