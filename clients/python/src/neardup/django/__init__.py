"""Django: fields, lookups, distances, an index, a constraint, the operation that creates the extension, and jobs.

INSTALLED_APPS needs "django.contrib.postgres" and "neardup.django".

    class Doc(models.Model):
        body = models.TextField()
        sketch = models.GeneratedField(
            expression=Minhash("body"), output_field=MinhashField(), db_persist=True)

        class Meta:
            indexes = [SignatureIndex(fields=["body"], name="doc_body")]

    Doc.objects.filter(body__near=("a text", 0.8))
    Doc.objects.order_by(BallDistance("body", TextBall("a text", 0.7)))[:10]
    Doc.objects.order_by(MinhashDistance("sketch", sketch))[:10]
"""

from neardup.django.constraints import NearExclusionConstraint
from neardup.django.fields import MinhashField, SimhashField
from neardup.django.functions import BallDistance, Minhash, MinhashDistance, Near, Simhash, SimhashDistance
from neardup.django.indexes import SignatureIndex
from neardup.django.operations import NeardupExtension, refresh, unwatch, watch

__all__ = [
    "BallDistance",
    "Minhash",
    "MinhashDistance",
    "MinhashField",
    "Near",
    "NearExclusionConstraint",
    "NeardupExtension",
    "SignatureIndex",
    "Simhash",
    "SimhashDistance",
    "SimhashField",
    "refresh",
    "unwatch",
    "watch",
]
