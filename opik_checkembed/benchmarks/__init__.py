"""Speed and accuracy, measured: each benchmark runs both sides in one process and prints the ratio."""
