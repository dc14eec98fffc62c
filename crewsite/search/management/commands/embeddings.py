"""`crew embeddings`: the embedding model and everything made by it. Parses, calls one service, prints. It
stands here because what is embedded is the search documents' text."""

from __future__ import annotations

import json
import shutil
from argparse import ArgumentParser
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from crewsite.embeddings.errors import ModelRefused
from crewsite.embeddings.install import InstallFailed, install_compact
from crewsite.embeddings.models_catalog import CATALOG, COMPACT, DOWNLOADED
from crewsite.embeddings.report import embedder_report
from crewsite.embeddings.service import get_embedder
from crewsite.embeddings.services import SWITCH_KIND, model_check, vectors_outdate
from crewsite.embeddings.switching import model_switch
from crewsite.embeddings.tasks import KIND, model_install
from crewsite.jobs.console import progress_shown
from crewsite.security.text import number_of

# Loading the compact model takes 0.3 s, a 600 MB one some seconds from a cold disk.
WAIT_SECONDS: Final = 60.0
VERBS: Final = {
    "status": "load the model and show what it is, how many vectors there are and how the index stands",
    "install": "fetch and check a model, the compact one unless named; does nothing if it is there",
    "use": "embed everything with another model; the old one serves until that is done",
    "backfill": "embed what has no vector yet",
    "rebuild": "make search documents, keyword index and index files anew from the rows",
}


class Command(BaseCommand):
    help = "Shows, installs and changes the embedding model, and rebuilds what is made by it."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="action", required=True, metavar="|".join(VERBS))
        made = {name: verbs.add_parser(name, help=text) for name, text in VERBS.items()}
        for verb in made.values():
            verb.add_argument("--json", action="store_true", help="for programs")
        made["install"].add_argument(
            "model",
            nargs="?",
            default=COMPACT.model_id,
            choices=list(CATALOG),
            help="which; default: %(default)s",
        )
        made["install"].add_argument(
            "--url", default="", help=f"another https address of the file of {DOWNLOADED.model_id}"
        )
        made["use"].add_argument(
            "model", help=f"the path of a GGUF file, compact, or one of: {', '.join(CATALOG)}"
        )
        made["use"].add_argument(
            "--check", action="store_true", help="only try the file and say its size and dim"
        )
        made["rebuild"].add_argument(
            "--vectors",
            action="store_true",
            help="embed every text again as well; old vectors serve meanwhile",
        )

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        try:
            data, told = getattr(self, f"_{action}")(options)
        except (InstallFailed, ModelRefused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(data, indent=2) if options["json"] else "\n".join(told))

    def _status(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        from crewsite.search.service import search_status

        get_embedder().wait_ready(WAIT_SECONDS)
        report, index = embedder_report(), search_status()
        head = (
            f"embedder {report['state']} {report['model_id']} dim {report['dim']} {report['error']}".rstrip()
        )
        spaces = [
            f"{space['status']:<9} {space['model_id']} dim {space['dim']}:"
            f" {number_of(space['vectors'], 'vector')}"
            for space in report["spaces"]
        ]
        texts = number_of(index["documents"], "text")
        tail = f"index {index['state']}: {texts}, {index['lag']} without a vector"
        return {**report, "index": index}, [head, *spaces, tail]

    def _install(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        if settings.CREW_SKIP_MODEL_DOWNLOAD:
            raise CommandError("CREW_SKIP_MODEL_DOWNLOAD forbids downloads. Unset it to install the model.")
        model = options["model"]
        if model == COMPACT.model_id:
            if options["url"]:
                raise CommandError(f"--url is for {DOWNLOADED.model_id}: name that model too.")
            path = str(install_compact(say=self.stderr.write))
            return {"model_id": model, "path": path}, [f"{model} is installed: {path}"]
        with progress_shown(KIND, "downloading"):
            path = model_install(model, options["url"])
        told = [f"{model} is installed: {path}", f"Use it with: crew embeddings use {model}"]
        return {"model_id": model, "path": path}, told

    def _use(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        if options["check"]:
            found = model_check(model=options["model"])
            size = found.size_bytes
            data = {"model_id": found.model_id, "path": str(found.path), "size_bytes": size, "dim": found.dim}
            return data, [f"{found.model_id} works: dim {found.dim}, {size / 1e6:.0f} MB, {found.path}"]
        with progress_shown(SWITCH_KIND, "switching the model"):
            done = model_switch(options["model"])
        if "skipped" in done:
            raise CommandError(f"The model was not switched: {done['skipped']}.")
        embedded = f"{number_of(done['embedded'], 'text')} embedded"
        return done, [f"{done['model_id']} is in use (dim {done['dim']}); {embedded}."]

    def _backfill(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        done = self._embed_missing()
        return done, [f"{done['embedded']} of {number_of(done['missing'], 'text')} embedded."]

    def _rebuild(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        from crewsite.search.reconcile import reconcile
        from crewsite.search.tasks import index_write
        from crewsite.search.vector_index.base_file import index_folder

        self.stderr.write("Comparing rows with the index, and writing the keyword index anew")
        done = reconcile(force=True)
        data: dict[str, Any] = {"put": done.put, "removed": done.removed, "rebuilt": done.rebuilt}
        told = [
            f"{number_of(done.put, 'text')} put in, {done.removed} taken out; keyword index written anew."
        ]
        if options["vectors"]:
            data["outdated"] = vectors_outdate()
            data |= self._embed_missing()
            told.append(f"{data['embedded']} of {number_of(data['missing'], 'text')} embedded.")
        shutil.rmtree(index_folder(), ignore_errors=True)
        try:
            data["files"] = index_write()
        except ExceptionGroup as failed:
            raise CommandError(f"{failed.message}: {'; '.join(map(str, failed.exceptions))}") from failed
        return data, [*told, f"{number_of(len(data['files']), 'index file')} written."]

    def _embed_missing(self) -> dict[str, Any]:
        from crewsite.search.backfill import JOB_KIND
        from crewsite.search.tasks import embeddings_backfill

        with progress_shown(JOB_KIND, "embedding"):
            done = embeddings_backfill()
        if "skipped" in done:
            raise CommandError(f"Nothing was embedded: {done['skipped']}.")
        return done
