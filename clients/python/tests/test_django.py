"""Django: a project of one app, made and migrated."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import IntegrityError, connection, connections, transaction

from neardup import MinhashBall, MinhashSketch, SimhashSketch, TextBall
from neardup.pandas import near_duplicates
from neardup.server import PrivateServer

from .conftest import TEXTS

EXTENSION = """
from django.db import migrations
from neardup.django import NeardupExtension

class Migration(migrations.Migration):
    dependencies = []
    operations = [NeardupExtension()]
"""


def place(server: PrivateServer, database: str) -> dict[str, str]:
    return {"NAME": database, "HOST": str(server.folder), "PORT": "5432", "USER": "postgres"}


# A process configures Django once, and may come back to these tests after others.
@pytest.fixture(scope="session")
def migrations(tmp_path_factory: pytest.TempPathFactory, server: PrivateServer) -> Iterator[Path]:
    """A folder of migrations that can be imported, and Django made ready."""
    top = tmp_path_factory.mktemp("django")
    folder = top / "migrations_of_shop"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "0001_extension.py").write_text(EXTENSION)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(top))
        settings.configure(
            INSTALLED_APPS=["django.contrib.postgres", "neardup.django", "tests.shop"],
            DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", **place(server, "postgres")}},
            MIGRATION_MODULES={"shop": "migrations_of_shop"},
            DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
            USE_TZ=True,
        )
        django.setup()
        call_command("makemigrations", "shop", name="docs", stdout=io.StringIO())
        connections["default"].close()
        yield folder


@pytest.fixture
def model(server: PrivateServer, bare: str, migrations: Path) -> Iterator[type[Any]]:
    """The model in a database of its own, with documents."""
    from .shop.models import Doc

    assert migrations.is_dir()
    connections["default"].settings_dict.update(place(server, bare))
    call_command("migrate", stdout=io.StringIO())
    Doc.objects.bulk_create(Doc(id=number, body=body) for number, body in TEXTS.items())
    yield Doc
    connections["default"].close()


def test_migrations(model: type[Any], migrations: Path) -> None:
    written = (migrations / "0002_docs.py").read_text()
    assert (
        "neardup.django.indexes.SignatureIndex(fields=['body'], multiset=False, "
        "name='docs_body', shingle=3, threshold=0.6)" in written
    )
    call_command("makemigrations", "shop", check=True, dry_run=True, stdout=io.StringIO())
    with connection.cursor() as cursor:
        cursor.execute("""SELECT indexname, options FROM pg_indexes, signature_index_stats(indexname::regclass)
            WHERE indexdef LIKE '%USING signature%' ORDER BY 1""")
        options = dict(cursor.fetchall())
    assert {name: shown.split(",")[0] for name, shown in options.items()} == {
        "docs_body": "text_set_ops: jaccard",
        "docs_minhash": "minhash_jaccard_ops: 84 permutations of words",
        "docs_simhash": "simhash_hamming_ops: 128 bits of words",
        "docs_sketch": "minhash_jaccard_ops: 128 permutations of words",
        "no_near_notes": "1 group column; text_ball_set_ops: jaccard",
        "no_near_posts": "text_ball_set_ops: jaccard",
        "no_near_titles": "text_ball_set_ops: jaccard",
        "notes_body": "1 group column; text_set_ops: jaccard",
        "notes_minhash": "2 group columns; minhash_jaccard_ops: 128 permutations of words",
    }
    assert "shingle 3, set; threshold 0.6" in options["docs_body"]
    assert "distance 20" in options["docs_simhash"]
    assert model._meta.indexes[0].clone() == model._meta.indexes[0]
    call_command("migrate", "shop", "zero", stdout=io.StringIO())
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_extension WHERE extname = 'neardup'")
        assert cursor.fetchone() == (0,)


def test_fields(model: type[Any]) -> None:
    from neardup.django import Simhash

    doc = model.objects.get(id=1)
    assert isinstance(doc.sketch, MinhashSketch)
    assert doc.given is None
    doc.given = model.objects.annotate(made=Simhash("body")).get(id=1).made
    doc.save()
    doc.refresh_from_db()
    assert isinstance(doc.given, SimhashSketch)
    assert model.objects.get(given=doc.given).id == 1
    fixture = io.StringIO()
    call_command("dumpdata", "shop", stdout=fixture)
    assert str(doc.given) in fixture.getvalue()
    with pytest.raises(django.core.exceptions.ValidationError, match="it should have 6 parts"):
        model(id=9, body="", given=str(doc.sketch)).full_clean()


def test_lookups(model: type[Any]) -> None:
    from django.db.models import F, Value

    from neardup.django import BallDistance, Minhash, MinhashDistance, SimhashDistance

    sketch = model.objects.get(id=3).sketch
    for wanted in [
        {"body__near": (TEXTS[3], 0.8)},
        {"body__near": (TEXTS[3], 0.8, 2)},
        {"body__near": (TEXTS[3], 0.8, None, None, None, "cosine")},
        {"body__near": (TEXTS[3], {"method": "dice", "tokenizer": "chars"})},
        {"body__near": (TEXTS[3], {"normalization": "nfkc"})},
        {"body__near": TextBall(TEXTS[3], 0.8)},
        {"sketch__near": (sketch, 0.8)},
        {"sketch__near": (str(sketch), 0.8)},
        {"sketch__near": MinhashBall(sketch, 0.8)},
        {"sketch__near": (Minhash(Value(TEXTS[3]), k=2), 0.8)},
    ]:
        assert sorted(model.objects.filter(**wanted).values_list("id", flat=True)) == [3, 4], wanted
    assert model.objects.filter(sketch__near=(F("sketch"), 1)).count() == 5
    nearest = model.objects.annotate(far=MinhashDistance("sketch", sketch)).order_by("far", "id")
    assert [(doc.id, doc.far) for doc in nearest[:2]] == [(3, 0.0), (4, 0.0)]
    assert nearest.filter(far__lt=0.5, body__contains="%").count() == 0
    ball = TextBall("50% 'off' \\ " + TEXTS[3], 0.5)
    in_order = model.objects.annotate(far=BallDistance("body", ball)).filter(body__near=ball).order_by("far", "id")
    assert [doc.id for doc in in_order] == [3, 4]
    assert 0 < in_order[0].far < 0.5
    bits = model.objects.annotate(far=SimhashDistance("given", "given")).first()
    assert bits.far is None
    for wrong in (
        {"sketch__near": 5},
        {"sketch__near": TextBall("a", 0.8)},
        {"sketch__near": (sketch, 0.8, 2)},
        {"sketch__near": (sketch, {})},
        {"body__near": ("a", 0.8, {"k": 3})},
    ):
        with pytest.raises(ValueError, match=r"near needs a|near of a"):
            model.objects.filter(**wrong).count()


def test_an_index_serves(model: type[Any]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        assert "docs_body" in model.objects.filter(body__near=(TEXTS[3], 0.8, 3)).explain()


def test_a_constraint(model: type[Any]) -> None:
    """It refuses rows in the database, and tells of them in forms."""
    from neardup.django import NearExclusionConstraint

    from .shop.models import Post

    assert model is not None
    Post.objects.create(body=TEXTS[3], title="one two three four")
    Post.objects.create(body=TEXTS[5])
    for wrong in (Post(body=TEXTS[4], title="x"), Post(body="new", title="ONE two three four!")):
        with pytest.raises(IntegrityError, match="no_near_"), transaction.atomic():
            wrong.save()
        with pytest.raises(ValidationError, match="is violated"):
            wrong.full_clean()
    Post(body="new", title="another").full_clean()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'no_near_titles'")
        ((shown,),) = cursor.fetchall()
    assert "text_ball_set_ops (shingle='2', threshold='0.6') WITH &&" in shown
    with pytest.raises(ValueError, match="method must be"):
        NearExclusionConstraint("body", name="x", method="'")
    normal = NearExclusionConstraint("body", name="x", normalization="nfkc")
    assert normal.deconstruct()[2]["normalization"] == "nfkc"
    with connection.schema_editor(collect_sql=True) as editor:
        shown = str(normal.create_sql(Post, editor))
    assert "normalization => 'nfkc')) text_ball_set_ops (normalize = 'nfkc') WITH &&" in shown


def test_groups(model: type[Any]) -> None:
    """Fields before the text are a part of the index, and of the constraint."""
    from .shop.models import Note

    assert model is not None
    Note.objects.bulk_create(Note(tenant=tenant, lang=str(tenant), body=TEXTS[3]) for tenant in range(9))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        found = Note.objects.filter(tenant=7, body__near=(TEXTS[4], 0.8))
        assert "notes_body" in found.explain()
        assert [note.tenant for note in found] == [7]
    wrong = Note(tenant=99, lang="7", body=TEXTS[4])
    with pytest.raises(IntegrityError, match="no_near_notes"), transaction.atomic():
        wrong.save()
    with pytest.raises(ValidationError, match="is violated"):
        wrong.full_clean()
    Note(tenant=99, lang="99", body=TEXTS[4]).full_clean()
    for one in (*Note._meta.indexes, *Note._meta.constraints):
        assert one.clone() == one


def test_refresh(model: type[Any]) -> None:
    from neardup.django import refresh, unwatch, watch

    table = connection.ops.quote_name(model._meta.db_table)
    watch(model, 0.75, text_column="body")
    assert refresh(model) == "done"
    with transaction.atomic(), pytest.raises(RuntimeError, match="outside of atomic"):
        refresh(model)
    assert len(near_duplicates(connection, table, 0.75, text_column="body")) == 2
    unwatch(model)
    with pytest.raises(Exception, match="is not watched"):
        refresh(model)


def test_what_no_index_has() -> None:
    from neardup.django import Minhash, SignatureIndex

    with pytest.raises(ValueError, match="one field or one expression"):
        SignatureIndex(fields=["a", "b"], name="an_index")
    with pytest.raises(ValueError, match="not an option of"):
        SignatureIndex(Minhash("a"), name="an_index", bits=64)
    # Of texts, the threshold is an option of the class; of sketches, it stands behind WITH.
    assert SignatureIndex(fields=["a"], name="an_index", threshold=0.7).get_with_params() == []
    assert SignatureIndex(Minhash("a"), name="an_index", threshold=0.7).get_with_params() == ["threshold = 0.7"]
    with pytest.raises(ValueError, match="tokenizer must be"):
        Minhash("a", tokenizer="'")
