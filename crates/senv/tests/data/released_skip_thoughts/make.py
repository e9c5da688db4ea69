"""Small files of the layout in which the Skip-thought authors released their weights, and what they encode to.

NumPy alone: the equations of their code, written down again in f64.
"""
import json
import numpy as np

rng = np.random.default_rng(2015)
DIM, UNI, BI = 3, 4, 2
WORDS = ["<eos>", "UNK", "the", "cat", "sat", "on", "mat"]


def reader(prefix, d):
    shapes = {"W": (DIM, 2 * d), "U": (d, 2 * d), "b": (2 * d,), "Wx": (DIM, d), "Ux": (d, d), "bx": (d,)}
    return {f"{prefix}_{name}": rng.normal(0, 0.7, shape).astype("float32") for name, shape in shapes.items()}


def read(p, prefix, xs):
    g = {k[len(prefix) + 1:]: v.astype("float64") for k, v in p.items() if k.rsplit("_", 1)[0] == prefix}
    h = np.zeros(g["U"].shape[0])
    for x in xs:
        r, u = np.split(1 / (1 + np.exp(-(x @ g["W"] + g["b"] + h @ g["U"]))), 2)
        n = np.tanh((h @ g["Ux"]) * r + x @ g["Wx"] + g["bx"])
        h = u * h + (1 - u) * n
    return h


uni, bi = reader("encoder", UNI), {**reader("encoder", BI), **reader("encoder_r", BI)}
uni["Wemb"] = rng.normal(0, 1, (5, DIM)).astype("float32")  # more arrays, as there are decoders in the release
tables = {name: rng.normal(0, 1, (len(WORDS), DIM)).astype("float32") for name in ("utable", "btable")}
np.savez("uni_skip.npz", **uni)
np.savez_compressed("bi_skip.npz", **bi)
for name, table in tables.items():
    np.save(name + ".npy", table)
with open("dictionary.txt", "w") as f:
    f.write("".join(word + "\n" for word in WORDS))

cases = []
for text in ["the cat sat on the mat", "cat", "the dog sat", "mat on cat"]:
    for eos in (False, True):
        ids = [WORDS.index(w) if w in WORDS else 1 for w in text.split()] + ([0] if eos else [])
        u, b = (tables[name].astype("float64")[ids] for name in ("utable", "btable"))
        halves = [read(uni, "encoder", u), np.concatenate([read(bi, "encoder", b), read(bi, "encoder_r", b[::-1])])]
        vector = np.concatenate([half / np.linalg.norm(half) for half in halves])
        cases.append({"text": text, "eos": eos, "vector": vector.tolist()})
origin = f"make.py beside this file, NumPy {np.__version__}"
with open("expected.json", "w") as f:
    json.dump({"origin": origin, "cases": cases}, f, indent=1)
