"""Libraries that tests do without where they are missing."""
import importlib


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
