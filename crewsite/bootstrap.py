"""Makes the virtual environment and installs the project into it. Runs under the system's Python, so:
standard library only.

A stamp in the environment remembers what it was built from; when nothing changed, this returns at once.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
STAMP = VENV / ".crewsite-installed"
MIN_PYTHON = (3, 11)

# llama.cpp is compiled once (about five minutes on two cores; pip keeps the wheel). Only the library is
# needed. The build does not tune itself to this very processor, because a cached wheel may outlive it.
LLAMA_CMAKE_ARGS = (
    "-DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF -DLLAMA_CURL=OFF"
    " -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF"
)


def fail(problem: str, remedy: str) -> None:
    sys.exit(f"crewsite: {problem}\n          {remedy}")


def say(text: str) -> None:
    sys.stderr.write(f"crewsite: {text}\n")


def fingerprint(extras: str) -> str:
    """What the environment depends on: the requirements, the pins, the Python, the extras."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes())
    digest.update(f"{sys.version_info[:3]} {base_python()} {extras} {ROOT}".encode())
    return digest.hexdigest()


def system_python() -> Path | None:
    """The distribution's own Python of this version, if it can make environments and does not run already.

    Distributions build theirs with profiles and link-time optimisation, which pyenv does not unless it is
    told: a recall takes a fifth less under Debian's (measured).
    """
    own = Path(f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}")
    if sys.platform != "linux" or not own.exists() or own.samefile(sys.executable):
        return None
    can_make = subprocess.run([str(own), "-c", "import ensurepip, venv"], capture_output=True, check=False)  # noqa: S603
    return None if can_make.returncode else own


def is_of_this_python() -> bool:
    """Whether the environment was made by the Python that runs."""
    try:
        lines = (VENV / "pyvenv.cfg").read_text().splitlines()
    except OSError:
        return False
    settings = dict(line.split(" = ", 1) for line in lines if " = " in line)
    return settings.get("home") == str(base_python().parent)


def base_python() -> Path:
    """The Python that runs, looked at through the environment it may belong to."""
    return Path(getattr(sys, "_base_executable", sys.executable))


def check_machine() -> None:
    if sys.version_info < MIN_PYTHON:
        fail(
            f"Python {sys.version.split()[0]} is too old.",
            "Install Python 3.11 or newer (Debian: apt install python3).",
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        fail("this Python cannot make virtual environments.", "Debian: apt install python3-venv")
    missing = [
        name for name, found in (("a C++ compiler", _compiler()), ("make", shutil.which("make"))) if not found
    ]
    if missing:
        fail(
            f"{' and '.join(missing)} missing; llama.cpp is compiled once.",
            "Debian: apt install build-essential",
        )


def _compiler() -> str | None:
    return os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")


def pip(*args: str, what: str) -> None:
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment["CMAKE_ARGS"] = f"{LLAMA_CMAKE_ARGS} {os.environ.get('CMAKE_ARGS', '')}".strip()
    environment.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    done = subprocess.run([str(VENV / "bin" / "python"), "-m", "pip", *args], env=environment, check=False)  # noqa: S603
    if done.returncode:
        fail(
            f"{what} failed.",
            "Read pip's message above; check the network and free disk space, then run it again.",
        )


def install(extras: str) -> None:
    check_machine()
    if not (VENV / "bin" / "python").exists() or not is_of_this_python():
        say("making the virtual environment in .venv")
        import venv

        venv.create(VENV, with_pip=True, symlinks=True, clear=VENV.exists())
    say("installing dependencies; the first time llama.cpp is compiled, which takes about five minutes")
    target = f"{ROOT}[{extras}]" if extras else str(ROOT)
    pip(
        "install",
        "--quiet",
        "-c",
        str(ROOT / "constraints.txt"),
        "-e",
        target,
        what="Installing the dependencies",
    )
    STAMP.write_text(fingerprint(extras))
    say("installed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", default="", help="comma-separated extras, for example dev,postgres")
    wanted = parser.parse_args().extras
    faster = None if os.environ.get("PYTHON") else system_python()
    if faster is not None:
        os.execv(faster, [str(faster), *sys.argv])  # noqa: S606
    known = STAMP.read_text() if STAMP.exists() else ""
    # An environment with the development extras also serves a plain run.
    if known not in {fingerprint(wanted), *({fingerprint("dev")} if not wanted else ())}:
        install(wanted)
    else:
        STAMP.touch()  # make compares times


if __name__ == "__main__":
    main()
