"""Runs code in a new interpreter: for what is decided when fbg is imported."""

import os
import subprocess
import sys


def run_python(code, **env):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=os.environ | env, capture_output=True, text=True)
