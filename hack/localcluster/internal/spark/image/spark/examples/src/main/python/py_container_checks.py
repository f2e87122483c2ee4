"""Checks of the Python in the containers, imported by pyfiles.py."""

import os
import sys


def version_check(python_env, major_python_version):
    """Tells whether this side runs the Python that was asked for."""
    env_version = os.environ.get("PYSPARK_PYTHON", "python3")
    print(
        "Python runtime version check for %s is: %s"
        % (python_env, sys.version_info[0] == major_python_version)
    )
    print(
        "Python environment version check for %s is: %s"
        % (python_env, str(major_python_version) in env_version)
    )
