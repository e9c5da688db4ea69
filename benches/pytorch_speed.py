"""The same steps in PyTorch, for the figures of docs/performance.md: run it in turn with gradient-speed and recurrent-speed.

    pip install torch==2.15.0 numpy
    python benches/pytorch_speed.py [PART OF A NAME ...]

Sentences a second (examples of seven sentences for Siamese CBOW, pairs for PP and CSE) at one and two threads, each the
median of three runs after three steps that do not count.
"""

import sys
import time

import torch
import torch.nn.functional as F

WORDS, DIM = 50_000, 300


def draw(shape, law):
    """Words drawn uniformly, or by the log-uniform law, as in text."""
    if law == "uniform":
        return torch.randint(0, WORDS, shape)
    ranks = torch.exp(torch.rand(shape) * torch.log(torch.tensor(WORDS + 1.0))) - 1
    return ranks.long().clamp(0, WORDS - 1)


def table(rows):
    words = torch.nn.Embedding(WORDS, DIM, sparse=rows == "sparse")
    torch.nn.init.normal_(words.weight, std=0.01)
    rule = torch.optim.SparseAdam if rows == "sparse" else torch.optim.Adam
    return words, rule(words.parameters(), lr=1e-3)


def siamese_cbow(law, rows):
    """Batches of 100 examples: a sentence, two positives, four negatives, 15 words each; softmax over cosines."""
    words, rule = table(rows)

    def step():
        rule.zero_grad(set_to_none=True)
        vectors = words(draw((100, 7, 15), law)).mean(2)
        cosines = F.cosine_similarity(vectors[:, :1], vectors[:, 1:], dim=2)
        (-F.log_softmax(cosines, 1)[:, :2].mean(1).mean()).backward()
        rule.step()

    return step, 100


def margin(a, b):
    """Margin loss with the hardest negatives among the other pairs of the batch."""
    a, b = F.normalize(a, dim=1), F.normalize(b, dim=1)
    positive, own = (a * b).sum(1), torch.eye(len(a), dtype=torch.bool)
    with torch.no_grad():
        scores = a @ b.T
        of_a, of_b = (s.masked_fill(own, -2).argmax(1) for s in (scores, scores.T))
    return (F.relu(0.4 - positive + (a * b[of_a]).sum(1)) + F.relu(0.4 - positive + (b * a[of_b]).sum(1))).mean()


def pairs(kind, law, rows):
    """128 pairs of 20 words: averages, or filters over 1, 2 and 3 words, 100 each, summed over the sentence."""
    words, rule = table(rows)
    sizes = () if kind == "pp" else (1, 2, 3)
    filters = torch.nn.ModuleList(torch.nn.Conv1d(DIM, 100, n, padding=n - 1) for n in sizes)
    rules = [rule] + ([torch.optim.Adam(filters.parameters(), lr=1e-3)] if sizes else [])
    bend = torch.tanh if kind == "cse-tanh" else (lambda x: x)

    def step():
        for rule in rules:
            rule.zero_grad(set_to_none=True)
        x = words(draw((256, 20), law))
        vectors = torch.cat([bend(f(x.transpose(1, 2))).sum(2) for f in filters], 1) if sizes else x.mean(1)
        margin(vectors[:128], vectors[128:]).backward()
        for rule in rules:
            rule.step()

    return step, 128


def sentences(n, dim, ragged, requires_grad=False):
    """Vectors of the words of n sentences: 12 words each, or 3 to 21, 12 in the mean, packed."""
    if not ragged:
        return torch.randn(n, 12, dim, requires_grad=requires_grad)
    lengths = torch.tensor([3 + 7 * i % 19 for i in range(n)])
    words = torch.randn(n, 21, dim, requires_grad=requires_grad)
    return torch.nn.utils.rnn.pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)


def encoder(ragged=False, kind=torch.nn.GRU):
    """128 sentences, 300 -> 2 x 1200, forward, backward, Adam."""
    cells = kind(300, 1200, bidirectional=True, batch_first=True)
    rule = torch.optim.Adam(cells.parameters())

    def step():
        rule.zero_grad(set_to_none=True)
        last = cells(sentences(128, 300, ragged, True))[1]
        (last[0] if isinstance(last, tuple) else last).square().mean().backward()
        rule.step()

    return step, 128


def decoder():
    """The same sentences told from a first state of 1200, full softmax over 20,000 words."""
    gru, output = torch.nn.GRU(300, 1200, batch_first=True), torch.nn.Linear(1200, 20_000)
    words = torch.nn.Embedding(20_000, 300, sparse=True)
    rules = [torch.optim.Adam([*gru.parameters(), *output.parameters()]), torch.optim.SparseAdam(words.parameters())]
    first = torch.randn(1, 128, 1200)

    def step():
        for rule in rules:
            rule.zero_grad(set_to_none=True)
        x = torch.randint(0, 20_000, (128, 12))
        states, _ = gru(words(x), first)
        F.cross_entropy(output(states).reshape(-1, 20_000), x.reshape(-1)).backward()
        for rule in rules:
            rule.step()

    return step, 128


def encoding(n, ragged=False):
    """Vectors of 2400 numbers of n sentences at a time, 620 numbers a word."""
    gru = torch.nn.GRU(620, 2400, batch_first=True)

    def step():
        with torch.no_grad():
            gru(sentences(n, 620, ragged))

    return step, n


def main():
    parts = {"encoder": encoder, "decoder": decoder}
    parts |= {f"encoding {n} at a time": lambda n=n: encoding(n) for n in (1, 16, 128)}
    parts |= {"encoder, LSTM": lambda: encoder(kind=torch.nn.LSTM), "encoder, LSTM, ragged": lambda: encoder(True, torch.nn.LSTM)}
    parts |= {"encoder, ragged": lambda: encoder(True), "encoding 128 at a time, ragged": lambda: encoding(128, True)}
    for law in ("uniform", "zipf"):
        for rows in ("sparse", "dense"):
            parts[f"siamese-cbow {law} {rows}"] = lambda law=law, rows=rows: siamese_cbow(law, rows)
            for kind in ("pp", "cse-linear", "cse-tanh"):
                parts[f"{kind} {law} {rows}"] = lambda kind=kind, law=law, rows=rows: pairs(kind, law, rows)
    for name, make in parts.items():
        if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
            continue
        rates = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            torch.manual_seed(1)
            (step, n), runs = make(), []
            for _ in range(3):
                step()
            for _ in range(3):
                start, steps = time.perf_counter(), 0
                while steps == 0 or time.perf_counter() - start < 1.0:
                    step()
                    steps += 1
                runs.append(n * steps / (time.perf_counter() - start))
            rates.append(sorted(runs)[1])
        print(f"{name:32} {rates[0]:10.1f} {rates[1]:10.1f}", flush=True)


main()
