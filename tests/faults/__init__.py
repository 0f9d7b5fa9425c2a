"""Faults: calls that fail, processes that are killed or interrupted, and too little memory."""
