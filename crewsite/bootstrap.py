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
CHOICE = VENV / ".crewsite-python"  # the Python that PYTHON= named, for later runs that name none
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
    digest.update(f"{sys.version_info[:3]} {base_python().resolve()} {extras} {ROOT}".encode())
    return digest.hexdigest()


def system_python() -> Path | None:
    """The distribution's own Python of this version, if it can make environments and does not run already.

    Distributions build theirs with profiles and link-time optimisation, which pyenv does not unless it is
    told: `bench recall` takes a fifth less time under Debian's.
    """
    own = Path(f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}")
    if sys.platform != "linux" or not own.exists() or _runs(own):
        return None
    can_make = subprocess.run([str(own), "-c", "import ensurepip, venv"], capture_output=True, check=False)  # noqa: S603
    return None if can_make.returncode else own


def other_python() -> Path | None:
    """The Python to go on with instead of the one that runs: one that was chosen before, or the system's."""
    if os.environ.get("PYTHON"):
        return None
    chosen = Path(CHOICE.read_text()) if CHOICE.exists() else None
    if chosen is not None and chosen.exists():
        return None if _runs(chosen) else chosen
    return system_python()


def _runs(python: Path) -> bool:
    return bool(sys.executable) and Path(sys.executable).exists() and python.samefile(sys.executable)


def is_of_this_python() -> bool:
    """Whether the environment was made by the Python that runs, or one of the same version beside it."""
    try:
        lines = (VENV / "pyvenv.cfg").read_text().splitlines()
    except OSError:
        return False
    settings = dict(line.split(" = ", 1) for line in lines if " = " in line)
    home = Path(settings.get("home", ""))
    version = ".".join(map(str, sys.version_info[:2]))
    is_same = home.exists() and home.samefile(base_python().parent)
    return is_same and settings.get("version", "").startswith(f"{version}.")


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
    is_chosen = bool(os.environ.get("PYTHON")) or CHOICE.exists()  # making the environment anew forgets it
    has_python = (VENV / "bin" / "python").exists()
    if not has_python or not is_of_this_python():
        again = ", which another Python made" if has_python else ""
        say(f"making the virtual environment in .venv{again}")
        import venv

        # A link follows the distribution's updates of its Python.
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
    if is_chosen:
        CHOICE.write_text(str(base_python()))
    STAMP.write_text(fingerprint(extras))
    say("installed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", default="", help="comma-separated extras, for example dev,postgres")
    wanted = parser.parse_args().extras
    other = other_python()
    if other is not None:
        os.execv(other, [str(other), *sys.argv])  # noqa: S606
    known = STAMP.read_text() if STAMP.exists() else ""
    # An environment with the development extras also serves a plain run.
    if known not in {fingerprint(wanted), *({fingerprint("dev")} if not wanted else ())}:
        install(wanted)
    else:
        STAMP.touch()  # make compares times


if __name__ == "__main__":
    main()
