"""Near-duplicates on labelled pairs: what `senv dedupe` drops, with its guard and without.

    python benches/near_duplicates.py --senv target/release/senv --data ../shared/data [--half report] [--pairs DIR]

Every set has pairs of two texts that say the same (1) or name different things (0). The sets are labelled by people, known
by their origin (two names of one disease, two questions about different diseases), or made by rules from tables: one word,
number, code or name of a record is changed (0), or only its typing or spelling (1). Half of each set is for choosing
settings (`--half choose`), the other for the figures of docs/experiments/near-duplicates.md.

Each pair is a group of its own of `senv dedupe --by`, once with --guard and once without, at a low threshold. Prints for
each set and threshold the share of pairs of 1 that are dropped (recall) and of pairs of 0 (wrong).
"""

import argparse
import csv
import gzip
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter, defaultdict

MOST = 1500  # pairs of a set, label and half
LOWEST = 0.6  # cosines below it are not looked at
THRESHOLDS = [0.8, 0.84, 0.86, 0.87, 0.88, 0.89, 0.9, 0.91, 0.92, 0.94]
# Shown, but not in the means: the same words in another order, and typing, which "typing straightened" has without the
# rule of the tokenizer.
APART = ["PAWS", "PAWS val", "order templates", "typing changed"]


def rows(data, name):
    path = os.path.join(data, name)
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [line.rstrip("\n").split("\t") for line in file]


def plain(text):
    """What decides whether two texts are written alike."""
    return "".join(c for c in text.lower() if c.isalnum())


# Labelled by people, or by origin.


def scored(data, name, same, other):
    """Pairs with a score: the same from `same` on, different up to `other`."""
    for score, *_, a, b in rows(data, name):
        if float(score) >= same:
            yield 1, a, b
        elif float(score) <= other:
            yield 0, a, b


def entailed(data, name):
    for score, label, a, b in rows(data, name):
        if label == "ENTAILMENT" and float(score) >= 4.5:
            yield 1, a, b
        elif label == "CONTRADICTION":
            yield 0, a, b


def pairs(data, name, label=1):
    for a, b, *_ in rows(data, name):
        yield label, a, b


def grouped(data, name):
    """Two texts of a group, and of each group a text with the most similar one of another group."""
    groups = defaultdict(list)
    for group, text in rows(data, name):
        groups[group].append(text)
    for texts in groups.values():
        for a, b in zip(texts[::2], texts[1::2]):
            yield 1, a, b
    yield from different([texts[0] for texts in groups.values()])


def different(texts):
    """Texts that name different things, each with the one that shares most words with it, rare ones above all."""
    texts = sorted({plain(text): text for text in texts}.values())
    random.Random(7).shuffle(texts)
    texts = texts[:6000]
    bags = [set(re.findall(r"\w+", text.lower())) for text in texts]
    places = defaultdict(list)
    for i, bag in enumerate(bags):
        for word in bag:
            places[word].append(i)
    for i, bag in enumerate(bags):
        shared = Counter()
        for word in sorted(bag, key=lambda word: len(places[word])):
            for j in places[word][:400]:
                if j != i:
                    shared[j] += 1
        if shared:
            j = max(shared, key=lambda j: (shared[j] / len(bag | bags[j]), -j))
            yield 0, texts[i], texts[j]


def first_column(data, name):
    """Texts of a table, titles without the name of a section (": more information")."""
    return [re.sub(r": [a-z ]+$", "", row[0]) for row in rows(data, name)]


# Made by rules.


def records(data):
    """Texts of tables: titles, tasks, summaries, descriptions."""
    texts = []
    for name in ["onet-tasks.tsv.gz", "advisories.tsv", "tldr.tsv", "arxiv.tsv.gz", "pages-ms-support.tsv.gz",
                 "pages-ms-win32.tsv.gz", "pages-ms-powershell.tsv.gz", "pages-digitalgov.tsv.gz", "peps.tsv.gz",
                 "medquad.tsv.gz", "onet-titles.tsv.gz"]:
        column = sorted(set(first_column(data, "permissive/pairs/" + name)))
        random.Random(1).shuffle(column)
        texts += column[:2500]
    texts += [text for _, text in rows(data, "groups/e2e.tsv.gz")][::4]
    texts += [text for _, text in rows(data, "groups/webnlg.tsv.gz")][::20]
    return [text for text in texts if 3 <= len(text.split()) <= 30]


WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")


def words_of(texts):
    """The words of texts by kind: common, rare, name. A name is never lower case; function words are of no kind."""
    counts, lower = Counter(), Counter()
    for text in texts:
        if sum(word[0].islower() for word in text.split()) * 2 < len(text.split()):
            continue
        for match in WORD.finditer(text):
            counts[match[0]] += 1
            lower[match[0].lower()] += match[0].islower()
    function = set(sorted(lower, key=lambda word: -lower[word])[:150])
    kinds = {"common": [], "rare": [], "name": []}
    for word, n in sorted(counts.items()):
        if len(word) < 4 or word.lower() in function:
            continue
        if word.islower():
            kinds["common" if n >= 20 else "rare"].append(word)
        elif word.istitle() and not lower[word.lower()] and n <= 40:
            kinds["name"].append(word)
    return kinds


def changed(texts, kind, stream):
    """Records of which one word, number, code or name is another."""
    kinds = words_of(texts)
    options = {name: set(words) for name, words in kinds.items()}
    for text in texts:
        if kind == "number":
            spots = [m for m in re.finditer(r"(?<![\w.,-])\d+(?![\w-])", text)]
        elif kind == "code":
            spots = [m for m in re.finditer(r"[A-Za-z]+[-_.]?\d+\w*|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*", text)]
        else:
            is_title = sum(word[0].islower() for word in text.split()) * 2 < len(text.split())
            spots = [m for m in WORD.finditer(text) if m[0] in options[kind] and (kind != "name" or m.start() > 0)]
            spots = [] if is_title else spots
        if not spots:
            continue
        spot = stream.choice(spots)
        old = spot[0]
        if kind == "number":
            new = str(int(old) + stream.choice([1, 2, 3, 5, 10]))
        elif kind == "code":
            place = stream.randrange(len(old))
            pool = "0123456789" if old[place].isdigit() else "abcdefghijklmnopqrstuvwxyz"
            if not old[place].isalnum():
                continue
            letter = stream.choice([c for c in pool if c != old[place].lower()])
            new = old[:place] + (letter.upper() if old[place].isupper() else letter) + old[place + 1:]
        else:
            new = stream.choice(kinds[kind])
            if new[:4] == old[:4]:
                continue
        yield 0, text, text[:spot.start()] + new + text[spot.end():]


def edited(texts, stream):
    """Records in another spelling: what people type when they mean the same."""
    british = [("ization", "isation"), ("ize", "ise"), ("color", "colour"), ("center", "centre"), ("behavior", "behaviour")]
    for text in texts:
        kind = stream.randrange(8)
        words = text.split(" ")
        if kind == 0:
            other = text.lower()
        elif kind == 1:
            other = text.upper()
        elif kind == 2:
            other = text.replace("-", " ") if "-" in text else text + "."
        elif kind == 3:
            other = re.sub(r"\b(the|a|an) ", "", text)
        elif kind == 4:
            spots = [i for i, word in enumerate(words) if len(word) >= 6 and word.isalpha()]
            if not spots:
                continue
            i = stream.choice(spots)
            place = stream.randrange(1, len(words[i]) - 2)
            word = words[i]
            words[i] = word[:place] + word[place + 1] + word[place] + word[place + 2:]
            other = " ".join(words)
        elif kind == 5:
            other = next((text.replace(a, b) for a, b in british if a in text), text)
        elif kind == 6:
            spots = [i for i, word in enumerate(words) if len(word) >= 4 and word.isalpha() and word.islower()]
            if not spots:
                continue
            i = stream.choice(spots)
            words[i] = words[i][:-1] if words[i].endswith("s") else words[i] + "s"
            other = " ".join(words)
        else:
            other = "Please note: " + text if len(words) > 8 else text + " (new)"
        if other != text:
            yield 1, text, other


def typed(texts, stream):
    """Texts as keyboards, phones and word processors write them."""
    forms = [
        lambda text: text.replace("'", "\u2019") if "'" in text else None,
        lambda text: text[:-1] + "!!!" if text[-1:] in ".!" else None,
        lambda text: text[:-1] + "\u2026" if text[-1:] == "." else None,
        lambda text: "\u201c" + text + "\u201d",
        lambda text: text.replace("-", "\u2013") if "-" in text else None,
        lambda text: text.replace("-", "\u2011") if "-" in text else None,
        lambda text: unicodedata.normalize("NFD", text) if unicodedata.normalize("NFD", text) != text else None,
        lambda text: re.sub(r"(\w{3})(\w{3})", "\\1\u200b\\2", text, count=1),
        lambda text: re.sub(r"(\w{4})(\w{4})", "\\1\u00ad\\2", text, count=1),
        lambda text: text.replace(" ", "\u00a0", 1),
        lambda text: text.replace('"', "\u201d") if '"' in text else None,
        lambda text: text + ".." if text[-1:] == "." else None,
        lambda text: text[:-1] if text[-1:] == "." else None,
    ]
    for text in texts:
        made = [other for form in forms if (other := form(text)) not in (None, text)]
        if made:
            yield 1, text, stream.choice(made)


# Text without the typing of `typed`: what a normalization would leave.
STRAIGHT = {"\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2011": "-", "\u2026": "...", "\u200b": "", "\u00ad": "",
            "\u00a0": " "}


def straight(text):
    text = unicodedata.normalize("NFC", text)
    text = "".join(STRAIGHT.get(c, c) for c in text)
    return re.sub(r"([!?.])\1+", r"\1", text)


def sets(data):
    """The sets by name, each a list of (label, text, text)."""
    table = records(data)
    sentences = [text for name in ["sick/train.tsv", "stsb/dev.tsv", "labelled/quora.tsv.gz", "pairs/tatoeba.tsv.gz"]
                 for row in rows(data, name)[:4000] for text in row[-2:-1]]
    def stream(name):
        return random.Random("near-duplicates " + name)
    found = {
        "MSRP": pairs_with_label(data, "msrp/train.tsv"),
        "Quora": pairs_with_label(data, "labelled/quora.tsv.gz"),
        "PAWS": pairs_with_label(data, "order/paws-train.tsv.gz"),
        "PAWS val": pairs_with_label(data, "order/paws-val.tsv.gz"),
        "order templates": pairs_with_label(data, "permissive/scored/order-templates.tsv.gz"),
        "clinical questions": pairs_with_label(data, "permissive/scored/rqe.tsv.gz"),
        "STSB": [*scored(data, "stsb/train.tsv", 4.6, 3.4), *scored(data, "stsb/dev.tsv", 4.6, 3.4)],
        "STS headlines": [*scored(data, "sts/2013/headlines.tsv", 4.6, 3.4),
                          *scored(data, "sts/2014/headlines.tsv", 4.6, 3.4)],
        "STS other": [pair for name in ["2012/OnWN", "2012/MSRpar", "2014/images", "2014/deft-news", "2014/tweet-news",
                                        "2014/OnWN", "2012/SMTeuroparl"]
                      for pair in scored(data, f"sts/{name}.tsv", 4.6, 3.0)],
        "SICK": entailed(data, "sick/train.tsv"),
        "patent phrases": scored(data, "permissive/scored/patent-phrases.tsv.gz", 1.0, 0.5),
        "Tatoeba": pairs(data, "pairs/tatoeba.tsv.gz"),
        "Bible": pairs(data, "pairs/bible-web-bsb.tsv.gz"),
        "simplified": [*pairs(data, "pairs/turk.tsv"), *pairs(data, "pairs/onestop.tsv")],
        "science": pairs(data, "pairs/parasci-acl.tsv"),
        "captions": grouped(data, "groups/coco.tsv"),
        "restaurants": grouped(data, "groups/e2e.tsv.gz"),
        "facts": grouped(data, "groups/webnlg.tsv.gz"),
        "arguments": grouped(data, "groups/perspectrum.tsv"),
        "disease names": grouped(data, "permissive/groups/disease-names.tsv"),
        "disease questions": different(first_column(data, "permissive/pairs/medquad.tsv.gz")),
        "job titles": different(first_column(data, "permissive/pairs/onet-titles.tsv.gz")),
        "commands": different(first_column(data, "permissive/pairs/tldr.tsv")),
        "help pages": different(first_column(data, "permissive/pairs/pages-ms-support.tsv.gz")),
        "number changed": changed(table, "number", stream("number")),
        "code changed": changed(table, "code", stream("code")),
        "name changed": changed(table, "name", stream("name")),
        "rare word changed": changed(table, "rare", stream("rare")),
        "common word changed": changed(table, "common", stream("common")),
        "spelling changed": edited(table, stream("edited")),
        "typing changed": typed(table[::3] + sentences, stream("typed")),
    }
    found = {name: list(of_set) for name, of_set in found.items()}
    found["typing straightened"] = [(1, straight(a), straight(b)) for _, a, b in found["typing changed"]]
    return found


def pairs_with_label(data, name):
    for label, a, b in rows(data, name):
        yield int(label), a, b


def half_of(a, b):
    """Half of a pair, which does not depend on its set."""
    return "choose" if hashlib.sha256(min(plain(a), plain(b)).encode()).digest()[0] < 128 else "report"


def halved(of_set, half):
    """At most MOST pairs of each label of one half, without equal texts."""
    chosen = {0: [], 1: []}
    for label, a, b in of_set:
        a, b = (" ".join(text.split("\t")) for text in (a, b))
        if a != b and a.strip() and b.strip() and half_of(a, b) == half and (label or plain(a) != plain(b)):
            chosen[label].append((label, a, b))
    for pairs in chosen.values():
        random.Random(3).shuffle(pairs)
    return chosen[0][:MOST] + chosen[1][:MOST]


def dropped(senv, pairs, options):
    """For each pair its cosine if senv dedupe drops the second text, with these options; otherwise None."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", delete=False) as file:
        file.write("pair\ttext\n")
        for number, (_, a, b) in enumerate(pairs):
            file.write(f"{number}\t{a}\n{number}\t{b}\n")
    command = [senv, "-q", "dedupe", file.name, "--column", "text", "--by", "pair", "--report", "--json",
               "--threshold", str(LOWEST), *options]
    out = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    os.remove(file.name)
    cosines = [None] * len(pairs)
    for line in out.splitlines():
        found = json.loads(line)
        if isinstance(found.get("kept"), dict):
            cosines[(found["line"] - 3) // 2] = found["cosine"]
    return cosines


def share(values, threshold):
    return sum(value is not None and value >= threshold for value in values) / max(len(values), 1)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--senv", required=True)
    arguments.add_argument("--data", required=True)
    arguments.add_argument("--half", default="report", choices=["choose", "report"])
    arguments.add_argument("--old-threshold", type=float, default=0.9)
    arguments.add_argument("--threshold", type=float, default=0.9)
    arguments.add_argument("--save", help="write the pairs with both cosines to this file")
    arguments = arguments.parse_args()
    found = {name: halved(of_set, arguments.half) for name, of_set in sets(arguments.data).items()}
    everything = [pair for of_set in found.values() for pair in of_set]
    results = [dropped(arguments.senv, everything, options) for options in (["--no-guard"], [])]
    if arguments.save:
        names = [name for name, of_set in found.items() for _ in of_set]
        with open(arguments.save, "w") as file:
            writer = csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, escapechar=None)
            for name, pair, before, after in zip(names, everything, *results):
                writer.writerow([name, pair[0], before, after, pair[1], pair[2]])
    report(found, results, arguments.old_threshold, arguments.threshold)


def report(found, results, old, new):
    """A table: for each set the shares dropped today and with the guard; then thresholds over all sets."""
    print(f"| set | pairs of the same, of different things | recall at {old}, without guard | at {new}, guard "
          "| different things dropped, without | with |")
    print("| --- | --- | --- | --- | --- | --- |")
    start, by_set = 0, {}
    for name, of_set in found.items():
        parts = [[cosines[start + i] for i, pair in enumerate(of_set) if pair[0] == label]
                 for label in (1, 0) for cosines in results]
        start += len(of_set)
        by_set[name] = parts
        same, same_guarded, other, other_guarded = parts
        cells = [f"{share(same, old):.3f}", f"{share(same_guarded, new):.3f}"] if same else ["", ""]
        cells += [f"{share(other, old):.3f}", f"{share(other_guarded, new):.3f}"] if other else ["", ""]
        print(f"| {name} | {len(same)}, {len(other)} | {' | '.join(cells)} |")
    print(f"\nMeans of the sets, without {', '.join(APART)}:\n")
    print("| threshold | guard | recall | different things that are dropped | share of these in what is dropped |")
    print("| --- | --- | --- | --- | --- |")
    by_set = {name: parts for name, parts in by_set.items() if name not in APART}
    for threshold in THRESHOLDS:
        for guard in (0, 1):
            recalls = [share(parts[guard], threshold) for parts in by_set.values() if parts[guard]]
            wrongs = [share(parts[2 + guard], threshold) for parts in by_set.values() if parts[2 + guard]]
            recall, wrong = sum(recalls) / len(recalls), sum(wrongs) / len(wrongs)
            print(f"| {threshold} | {'yes' if guard else 'no'} | {recall:.3f} | {wrong:.3f} "
                  f"| {wrong / max(recall + wrong, 1e-9):.3f} |")


if __name__ == "__main__":
    sys.exit(main())
