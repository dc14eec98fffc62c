from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from crewsite.accounts.models import User
from crewsite.embeddings.models import Space, Vector
from crewsite.embeddings.service import embed_document
from crewsite.embeddings.vectors import vector_drop, vector_put

if TYPE_CHECKING:
    from django.test import Client

    from tests.fakes import FakeEmbedder

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(embedder: FakeEmbedder) -> Vector:
    embedding = embed_document("words")
    assert embedding is not None
    for number in (1, 2):
        vector_put(collection="episodic:1", object_id=number, text_hash="hash", embedding=embedding)
    vector_drop(collection="episodic:1", object_id=2)
    return Vector.objects.get(object_id=1)


def test_spaces_and_vectors_are_listed_and_cannot_be_changed(admin_client: Client, stored: Vector) -> None:
    spaces = admin_client.get(reverse("admin:embeddings_space_changelist")).content.decode()
    assert "fake:0:none" in spaces
    vectors = admin_client.get(reverse("admin:embeddings_vector_changelist")).content.decode()
    assert "stored" in vectors
    assert "dropped" in vectors
    assert admin_client.get(reverse("admin:embeddings_vector_add")).status_code == 403
    gone = admin_client.post(
        reverse("admin:embeddings_space_delete", args=[stored.space_id]), {"post": "yes"}
    )
    assert gone.status_code == 403
    assert Space.objects.exists()


def test_the_numbers_of_a_vector_are_not_shown(admin_client: Client, stored: Vector) -> None:
    page = admin_client.get(reverse("admin:embeddings_vector_change", args=[stored.pk]))
    assert page.status_code == 200
    assert "id_data" not in page.content.decode()
    assert User.objects.filter(is_superuser=True).exists()
