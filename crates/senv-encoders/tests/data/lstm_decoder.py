"""LSTM decoders in NumPy, f64, written from the equations alone: states of three targets, and the gradients of a weighted sum of them.

`python lstm_decoder.py > lstm_decoder.json`, NumPy 2.4. No gradient is derived by hand: each comes from a complex step,
Im f(x + ih) / h with h = 1e-30, which is exact to the last digits since no difference is taken.
"""

import json

import numpy as np

TARGETS = [[3, 1, 3, 0], [0], [2, 3, 1, 2, 0]]
WORDS, DIM, HIDDEN = 4, 3, 4


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def states(p, words, vectors, conditioning, start_token):
    """Word by word, one target after another; rows in the order of the targets."""
    out = []
    for sentence, v in zip(TARGETS, vectors):
        h, c = np.zeros(HIDDEN, complex), np.zeros(HIDDEN, complex)
        added = 0
        if conditioning == "initial-state":
            h = v
        else:
            added = p["decoder.context"] @ v
        if conditioning == "context-and-state":
            both = np.tanh(p["decoder.state"] @ v + p["decoder.state_bias"])
            h, c = both[:HIDDEN], both[HIDDEN:]
        x = words[0] if start_token else np.zeros(DIM)
        for target in sentence:
            a = p["decoder.input"] @ x + p["decoder.recurrent"] @ h + p["decoder.bias"] + added
            i, f, g, o = a[:HIDDEN], a[HIDDEN:2 * HIDDEN], a[2 * HIDDEN:3 * HIDDEN], a[3 * HIDDEN:]
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            out.append(h)
            x = words[target]
    return np.array(out)


def gradient(f, x):
    d = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        moved = x.astype(complex)
        moved[at] += 1e-30j
        d[at] = f(moved).imag / 1e-30
    return d


def case(rng, conditioning, start_token):
    dim = HIDDEN if conditioning == "initial-state" else 5
    shapes = {"input": (4 * HIDDEN, DIM), "recurrent": (4 * HIDDEN, HIDDEN), "bias": (4 * HIDDEN,)}
    if conditioning != "initial-state":
        shapes["context"] = (4 * HIDDEN, dim)
    if conditioning == "context-and-state":
        shapes |= {"state": (2 * HIDDEN, dim), "state_bias": (2 * HIDDEN,)}
    p = {"decoder." + name: rng.normal(0, 0.6, shape) for name, shape in shapes.items()}
    words, vectors = rng.normal(size=(WORDS, DIM)), rng.normal(size=(len(TARGETS), dim))
    hidden = states(p, words, vectors, conditioning, start_token)
    assert not hidden.imag.any()
    d_hidden = rng.normal(size=hidden.shape)
    value = lambda p, words, vectors: (states(p, words, vectors, conditioning, start_token) * d_hidden).sum()
    flat = lambda x: x.flatten().tolist()
    return {
        "conditioning": conditioning, "start_token": start_token,
        "words": flat(words), "vectors": flat(vectors),
        "parameters": {name: flat(x) for name, x in p.items()},
        "hidden": flat(hidden.real), "d_hidden": flat(d_hidden),
        "d_words": flat(gradient(lambda x: value(p, x, vectors), words)),
        "d_vectors": flat(gradient(lambda x: value(p, words, x), vectors)),
        "d_parameters": {name: flat(gradient(lambda x: value(p | {name: x}, words, vectors), p[name])) for name in p},
    }


def main():
    rng = np.random.default_rng(11)
    forms = [("initial-state", False), ("context-matrices", True), ("context-and-state", False)]
    print(json.dumps({"targets": TARGETS, "cases": [case(rng, *form) for form in forms]}))


main()
