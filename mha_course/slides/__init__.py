"""Slides made from lessons: one HTML file each, which opens without a network."""
