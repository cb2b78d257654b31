"""The Java that a driver of Spark needs on this machine; over Spark Connect none is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

LEAST = 17
HELPS = f"install Java {LEAST} (Debian: openjdk-17-jre-headless), or say by JAVA_HOME where it is"
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def wanting() -> str:
    """What is wrong with the Java that Spark would start; nothing: it will do."""
    home = os.environ.get("JAVA_HOME", "")
    java = shutil.which(os.path.join(home, "bin", "java") if home else "java")  # as Spark's own script looks for it
    if java is None:
        return f"JAVA_HOME is {home}, where no Java is" if home else "no Java was found on this machine"
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.SubprocessError):
        said = ""
    found = _VERSION.search(said)
    if found is None:
        return "the Java of this machine does not start"
    return "" if int(found[1]) >= LEAST else f"the Java of this machine has version {found[1]}"
