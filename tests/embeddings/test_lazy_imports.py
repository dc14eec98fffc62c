from __future__ import annotations

import subprocess
import sys


def test_the_service_costs_no_heavy_library_until_it_is_used() -> None:
    script = (
        "import sys, crewsite.embeddings.service, crewsite.embeddings.endpoint\n"
        "import crewsite.embeddings.llama_cpp_backend\n"
        "import crewsite.embeddings.install, crewsite.embeddings.windows\n"
        "print(sorted({'llama_cpp', 'numpy', 'gguf', 'httpx'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
