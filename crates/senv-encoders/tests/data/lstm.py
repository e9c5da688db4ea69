"""LSTM encoders in PyTorch: vectors of three sentences and the gradients of a weighted sum of them. `python lstm.py > lstm.json`, PyTorch 1.12.1.

Plain cells are `torch.nn.LSTM` over packed sequences; cells with peepholes, or without an output gate, are written out below and
differentiated by autograd, since PyTorch has none.
"""

import json

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.set_default_dtype(torch.float64)
SENTENCES = [[2, 0, 2], [1], [3, 2, 0, 4, 1]]
DIM, HIDDEN = 3, 4


def pooled(states, pooling):
    return {"last": states[-1], "mean": states.mean(0), "max": states.max(0).values}[pooling]


def plain(layers, both, pooling):
    lstm = torch.nn.LSTM(DIM, HIDDEN, layers, bidirectional=both, batch_first=True)
    words = torch.randn(5, DIM, requires_grad=True)
    lengths = torch.tensor([len(s) for s in SENTENCES])
    padded = torch.nn.utils.rnn.pad_sequence([words[s] for s in SENTENCES], batch_first=True)
    packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
    states, (last, _) = lstm(packed)
    states, _ = pad_packed_sequence(states, batch_first=True)
    directions = 2 if both else 1
    if pooling == "last":
        # One direction: every layer, the lowest first. Both: the top layer, the forward direction first.
        chosen = last if not both else last[-2:]
        out = torch.cat(list(chosen), dim=1)
    else:
        out = torch.stack([pooled(states[i, :n], pooling) for i, n in enumerate(lengths)])
    names = [(f"{d}{l + 1}", f"_l{l}" + ("_reverse" if d == "backward" else ""))
             for l in range(layers) for d in ["forward", "backward"][:directions]]
    parameters, leaves = [], []
    for name, suffix in names:
        w, u, b, c = (getattr(lstm, part + suffix) for part in ["weight_ih", "weight_hh", "bias_ih", "bias_hh"])
        parameters += [(name + ".input", w), (name + ".recurrent", u), (name + ".bias", b + c)]
        # The two biases have one gradient.
        leaves += [w, u, b]
    return out, words, parameters, leaves


def written_out(peepholes, output_gate, pooling):
    gates = 4 if output_gate else 3
    w, u, b = torch.randn(gates * HIDDEN, DIM), torch.randn(gates * HIDDEN, HIDDEN), torch.randn(gates * HIDDEN)
    p = torch.randn((gates - 1) * HIDDEN) if peepholes else torch.zeros(3 * HIDDEN)
    words = torch.randn(5, DIM)
    for x in (w, u, b, p, words):
        x.requires_grad_(True)

    def run(sentence):
        h = c = torch.zeros(HIDDEN)
        states = []
        for token in sentence:
            a = (w @ words[token] + u @ h + b).split(HIDDEN)
            of = p.split(HIDDEN)
            i, f, g = torch.sigmoid(a[0] + of[0] * c), torch.sigmoid(a[1] + of[1] * c), torch.tanh(a[2])
            c = f * c + i * g
            h = torch.sigmoid(a[3] + of[2] * c) * torch.tanh(c) if output_gate else torch.tanh(c)
            states.append(h)
        return pooled(torch.stack(states), pooling)

    parameters = [("forward1.input", w), ("forward1.recurrent", u), ("forward1.bias", b)]
    if peepholes:
        parameters.append(("forward1.peepholes", p))
    return torch.stack([run(s) for s in SENTENCES]), words, parameters, [x for _, x in parameters]


def case(name, made, **form):
    out, words, parameters, leaves = made
    d_out = torch.randn(out.shape)
    (out * d_out).sum().backward()
    values = lambda x: x.detach().flatten().tolist()
    return {"name": name, **form, "words": values(words), "out": values(out), "d_out": values(d_out),
            "d_words": values(words.grad), "parameters": [[n, list(x.shape), values(x)] for n, x in parameters],
            "d_parameters": [values(x.grad) for x in leaves]}


def main():
    torch.manual_seed(7)
    cases = []
    for layers, both, pooling in [(1, False, "last"), (2, False, "last"), (1, True, "max"), (2, True, "last"), (2, True, "mean"), (2, True, "max")]:
        name = f"{layers} layers, {'both directions' if both else 'one direction'}, {pooling}"
        cases.append(case(name, plain(layers, both, pooling), layers=layers, both=both, pooling=pooling, peepholes=False, output_gate=True))
    for peepholes, output_gate, pooling in [(True, True, "last"), (True, False, "mean"), (False, False, "max")]:
        name = f"peepholes: {peepholes}, output gate: {output_gate}, {pooling}"
        made = written_out(peepholes, output_gate, pooling)
        cases.append(case(name, made, layers=1, both=False, pooling=pooling, peepholes=peepholes, output_gate=output_gate))
    print(json.dumps({"sentences": SENTENCES, "dim": DIM, "hidden": HIDDEN, "cases": cases}))


main()
