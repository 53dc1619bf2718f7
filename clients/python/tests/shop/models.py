"""Models for the tests of Django."""

from django.db import models

from neardup.django import Minhash, MinhashField, NearExclusionConstraint, SignatureIndex, Simhash, SimhashField


class Doc(models.Model):
    body = models.TextField()
    sketch = models.GeneratedField(expression=Minhash("body", k=2), output_field=MinhashField(), db_persist=True)
    given = SimhashField(null=True)

    class Meta:
        app_label = "shop"
        db_table = "Docs of ours"
        indexes = (
            SignatureIndex(fields=["body"], name="docs_body", shingle=3, multiset=False, threshold=0.6),
            SignatureIndex(fields=["sketch"], name="docs_sketch", operators="minhash_jaccard_ops", k=2),
            SignatureIndex(Minhash("body", 8, 84), name="docs_minhash", k=8, permutations=84, pending_limit=64),
            SignatureIndex(Simhash("body", 128), name="docs_simhash", bits=128, distance=20),
        )


class Post(models.Model):
    body = models.TextField()
    title = models.CharField(max_length=100, default="")

    class Meta:
        app_label = "shop"
        constraints = (
            NearExclusionConstraint("body", name="no_near_posts"),
            NearExclusionConstraint("title", 0.6, name="no_near_titles", shingle=2, condition=~models.Q(title="")),
        )


class Note(models.Model):
    tenant = models.IntegerField(default=1)
    lang = models.CharField(max_length=9, default="en")
    body = models.TextField()

    class Meta:
        app_label = "shop"
        indexes = (
            SignatureIndex(fields=["body"], within="tenant", name="notes_body"),
            SignatureIndex(Minhash("body"), within={"tenant": "", "lang": "text_group_ops"}, name="notes_minhash"),
        )
        constraints = (NearExclusionConstraint("body", within={"lang": "text_group_ops"}, name="no_near_notes"),)
