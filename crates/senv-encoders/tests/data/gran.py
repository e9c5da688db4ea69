"""GRAN and BiLSTM average in PyTorch: vectors of three sentences and the gradients of a weighted sum of them. `python gran.py > gran.json`, PyTorch 1.12.1.

Cells, gates and layer are written out word by word as in the paper and the release, and differentiated by autograd.
"""

import json

import torch

torch.set_default_dtype(torch.float64)
SENTENCES = [[2, 0, 2], [1], [3, 2, 0, 4, 1]]
DIM, HIDDEN = 3, 4
sigmoid, tanh = torch.sigmoid, torch.tanh


def pooled(rows, pooling):
    return {"last": rows[-1], "mean": rows.mean(0), "max": rows.max(0).values}[pooling]


def lstm(name, hidden):
    """An LSTM with peepholes: its tensors, and its states for a list of word vectors."""
    w, u, b, p = (torch.randn(*shape) for shape in [(4 * hidden, DIM), (4 * hidden, hidden), (4 * hidden,), (3 * hidden,)])

    def states(rows):
        h = c = torch.zeros(hidden)
        out = []
        for x in rows:
            i, f, g, o = (w @ x + u @ h + b).split(hidden)
            p_i, p_f, p_o = p.split(hidden)
            i, f, g = sigmoid(i + p_i * c), sigmoid(f + p_f * c), tanh(g)
            c = f * c + i * g
            h = sigmoid(o + p_o * c) * tanh(c)
            out.append(h)
        return out

    return [(f"{name}.input", w), (f"{name}.recurrent", u), (f"{name}.bias", b), (f"{name}.peepholes", p)], states


def gran(gate, hidden, pooling):
    tensors, states = lstm("forward1", hidden)
    k = hidden if gate == 2 else DIM
    gates = 2 if gate in (3, 4, 5) else 1
    w, u, b = torch.randn(gates * k, DIM), torch.randn(gates * k, hidden), torch.randn(gates * k)
    m = torch.randn(gates * k, k)
    tensors += [("gate.input", w), ("gate.state", u), ("gate.bias", b)] + ([("gate.memory", m)] if gate == 4 else [])

    def encode(rows):
        a, out = torch.zeros(k), []
        for x, h in zip(rows, states(rows)):
            y = (w @ x) * (u @ h) + b if gate == 7 else w @ x + u @ h + b
            if gate == 4:
                y = y + m @ a
            y, y2 = y.split(k) if gates == 2 else (y, None)
            if gate in (1, 7):
                a = x * sigmoid(y)
            elif gate == 2:
                a = h * sigmoid(y)
            elif gate in (3, 4):
                a = a * sigmoid(y) + x * sigmoid(y2)
            elif gate == 5:
                a = x * sigmoid(y) + h * sigmoid(y2)
            else:
                a = tanh(y)
            out.append(a)
        return pooled(torch.stack(out), pooling)

    return tensors, encode


def joined(hidden, dim, pooling):
    tensors, forward = lstm("forward1", hidden)
    more, backward = lstm("backward1", hidden)
    w, b = torch.randn(dim, 2 * hidden), torch.randn(dim)

    def encode(rows):
        there, back = forward(rows), backward(rows[::-1])[::-1]
        if pooling == "last":
            return tanh(w @ torch.cat([there[-1], back[0]]) + b)
        return pooled(torch.stack([tanh(w @ torch.cat(both) + b) for both in zip(there, back)]), pooling)

    return tensors + more + [("layer.weight", w), ("layer.bias", b)], encode


def case(made, **form):
    tensors, encode = made
    words = torch.randn(5, DIM)
    for x in [words] + [x for _, x in tensors]:
        x.requires_grad_(True)
    out = torch.stack([encode([words[token] for token in sentence]) for sentence in SENTENCES])
    d_out = torch.randn(out.shape)
    (out * d_out).sum().backward()
    values = lambda x: x.detach().flatten().tolist()
    return {**form, "words": values(words), "out": values(out), "d_out": values(d_out), "d_words": values(words.grad),
            "parameters": [[n, list(x.shape), values(x)] for n, x in tensors], "d_parameters": [values(x.grad) for _, x in tensors]}


def main():
    torch.manual_seed(11)
    grans = []
    for gate in range(1, 8):
        for pooling in ["mean", "last"]:
            hidden = DIM if gate == 5 else HIDDEN
            grans.append(case(gran(gate, hidden, pooling), gate=gate, hidden=hidden, pooling=pooling))
    layers = [case(joined(HIDDEN, 5, pooling), pooling=pooling) for pooling in ["mean", "last", "max"]]
    print(json.dumps({"sentences": SENTENCES, "dim": DIM, "hidden": HIDDEN, "layer_dim": 5, "gran": grans, "joined": layers}))


main()
