"""Reference values of the order encoder, by another way than the crate's: explicit sums over pairs of words, and gradients by complex
steps (exact to rounding), in float64. NumPy 2.4.6, Python 3.11.7. It writes order.json beside itself.

    python order.py
"""
import json
import pathlib

import numpy as np

rng = np.random.default_rng(32)
N_WORDS, N, D = 7, 5, 6
SENTENCES = [[0, 3, 1, 3, 6, 2], [5], [], [4, 4, 1], [2, 6], [6, 5, 4, 3, 2, 1, 0, 0, 3]]
SHAPES = [("maps", (N, 3 * D)), ("scalars", (N, 3)), ("scalar_bias", (1, 3)), ("f_bias", (1, D)), ("length_bias", (1, 1)),
          ("first_state_bias", (1, D))]
parameters = [rng.normal(size=shape) * 0.6 for _, shape in SHAPES]
words = rng.normal(size=(N_WORDS, N))
d_out = rng.normal(size=(len(SENTENCES), D + 1))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def mean_share(f, n):
    """The closed form, where the crate adds up a polynomial."""
    return 2 * (n * (1 - f) - 1 + f**n) / ((1 - f) ** 2 * n * (n - 1))


def encode(words, maps, scalars, scalar_bias, f_bias, length_bias, first_state):
    out = []
    for sentence in SENTENCES:
        n = len(sentence)
        if n == 0:
            out.append(np.zeros(D + 1))
            continue
        e = words[sentence]
        s = e @ scalars + scalar_bias
        x = e @ maps
        a, b = x[:, :D] * sigmoid(s[:, :1]), x[:, D : 2 * D] * sigmoid(s[:, 1:2])
        f = sigmoid(x[:, 2 * D :] + f_bias)
        h0 = first_state[0]

        def one_way(a, b, f):
            # Every pair of words, with all gates between; h_0 stands before the first.
            q = 0
            for t in range(n):
                q = q + b[t] * h0 * np.prod(f[:t], axis=0)
                for i in range(t):
                    q = q + b[t] * a[i] * np.prod(f[i + 1 : t], axis=0)
            return q

        right, left = one_way(a, b, f), one_way(a[::-1], b[::-1], f[::-1])
        q = np.concatenate([(right - left)[: D // 2], (right + left)[D // 2 :]])
        if n > 1:
            all_pairs = sum(a[i] * b[j] for i in range(n) for j in range(n) if i != j)
            q = q - np.concatenate([np.zeros(D // 2), (mean_share(f.mean(0), n) * all_pairs)[D // 2 :]])
        exponent = s[:, 2].mean() + length_bias[0, 0] * (np.log(n) - 2.7)
        l = np.exp(exponent) if -4 < exponent.real < 1.5 else np.exp(np.clip(exponent.real, -4, 1.5)) + 0j
        out.append(np.concatenate([l * q / np.sqrt((q * q).sum()), [l]]))
    return np.array(out)


def loss(arguments):
    return (encode(*arguments) * d_out).sum()


def gradient(place):
    arguments = [x.astype(complex) for x in [words, *parameters]]
    x, step = arguments[place], 1e-40
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        before = x[i]
        x[i] = before + 1j * step
        g[i] = loss(arguments).imag / step
        x[i] = before
    return g


numbers = lambda x: np.asarray(x, dtype=float).ravel().tolist()
file = {
    "dim": D, "features": N, "n_words": N_WORDS, "sentences": SENTENCES, "words": numbers(words),
    "parameters": [["order." + name, list(shape), numbers(x)] for (name, shape), x in zip(SHAPES, parameters)],
    "out": numbers(encode(words, *parameters).real), "d_out": numbers(d_out), "d_words": numbers(gradient(0)),
    "d_parameters": [numbers(gradient(i + 1)) for i in range(len(SHAPES))],
}
pathlib.Path(__file__).with_name("order.json").write_text(json.dumps(file) + "\n")
