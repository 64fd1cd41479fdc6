"""The host of a program on boards: its end of each serial port."""
