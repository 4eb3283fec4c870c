"""Libraries that tests do without where they are missing, or named in QUASAR_TEST_WITHOUT."""
import importlib
import os


def library(name):
    if name in os.environ.get("QUASAR_TEST_WITHOUT", "").split():
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
