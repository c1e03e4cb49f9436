"""The version, read by the build and by recorded data."""

__version__ = "0.1.0"
