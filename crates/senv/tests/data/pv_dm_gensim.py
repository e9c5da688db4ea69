"""Makes pv_dm_gensim.json: documents, and the cosines between the vectors that gensim's PV-DM trains for them.

    python -m venv venv && venv/bin/pip install gensim numpy && venv/bin/python pv_dm_gensim.py > pv_dm_gensim.json

Documents mix the words of five topics in shares that differ from one to the next, so that they are more and less alike. Each of
the forms of the context is trained with two seeds: how well these agree bounds how well another program can.
"""

import itertools
import json
import random

import gensim
import numpy as np

TOPICS, WORDS, DOCUMENTS, LENGTH = 5, 12, 48, 40
FORMS = {
    "mean": {"dm_mean": 1, "dm_concat": 0, "window": 3},
    "concat": {"dm_concat": 1, "window": 2},
}


def documents():
    draw = random.Random(7)
    for _ in range(DOCUMENTS):
        first, second = draw.sample(range(TOPICS), 2)
        share = draw.random()
        topics = (first if draw.random() < share else second for _ in range(LENGTH))
        yield " ".join(f"{'abcde'[topic]}{draw.randrange(WORDS)}" for topic in topics)


def cosines(texts, form, seed):
    tagged = [gensim.models.doc2vec.TaggedDocument(text.split(), [i]) for i, text in enumerate(texts)]
    model = gensim.models.Doc2Vec(
        tagged, dm=1, vector_size=24, min_count=1, sample=0, negative=5, hs=0, alpha=0.05, min_alpha=0.0001,
        epochs=80, workers=1, seed=seed, **FORMS[form],
    )
    rows = np.array([model.dv[i] for i in range(len(texts))])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return [round(float(rows[i] @ rows[j]), 5) for i, j in itertools.combinations(range(len(texts)), 2)]


def main():
    texts = list(documents())
    forms = {form: [cosines(texts, form, seed) for seed in (1, 2)] for form in FORMS}
    origin = f"gensim {gensim.__version__}, by pv_dm_gensim.py beside this file"
    print(json.dumps({"origin": origin, "documents": texts, "cosines": forms}))


if __name__ == "__main__":
    main()
