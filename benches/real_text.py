"""Text as people have it: what senv makes of one sentence typed in different ways.

    cut -f2,3 sts/201[234]/*.tsv | tr '\\t' '\\n' > sentences.txt
    python benches/real_text.py typing --senv target/release/senv sentences.txt
    python benches/real_text.py report --senv target/release/senv --data ../shared/data sentences.txt

`typing`: for each form of typing, takes the first sentences of the file that can have it, types them so, and prints how many
of them have a cosine below .9 and below .97 with the sentence before. `report`: the figures of a report on real text,
with the defaults of the program. Needs no package. Figures: docs/experiments/real-text.md.
"""

import argparse
import array
import gzip
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unicodedata

BOUNDS = (0.9, 0.97)


def vectors(senv, model, lines):
    """The vectors of lines, each an array of floats."""
    with tempfile.TemporaryDirectory() as folder:
        text, output = os.path.join(folder, "lines.txt"), os.path.join(folder, "vectors.npy")
        with open(text, "w", encoding="utf-8", newline="\n") as file:
            file.write("".join(line + "\n" for line in lines))
        subprocess.run([senv, "-q", "encode", text, "--model", model, "--output", output], check=True)
        with open(output, "rb") as file:
            data = file.read()
    # Format 1 of NumPy: ten bytes, a header of the stated length, f32 values in rows.
    length, = struct.unpack("<H", data[8:10])
    rows, dim = map(int, re.search(rb"'shape': \((\d+), (\d+)\)", data[10:10 + length]).groups())
    values = array.array("f", data[10 + length:])
    assert rows == len(lines) and len(values) == rows * dim, "one row for each line"
    return [values[i * dim:(i + 1) * dim] for i in range(rows)]


def cosine(u, v):
    dot = sum(x * y for x, y in zip(u, v))
    norms = math.sqrt(sum(x * x for x in u) * sum(y * y for y in v))
    return dot / norms if norms > 0 else 0.0


# Forms of typing. Each takes a sentence and returns it plain and typed otherwise, or None if it cannot have the form.

def changed(plain, typed):
    return (plain, typed) if plain != typed else None


def replaced(old, new):
    return lambda sentence: changed(sentence, sentence.replace(old, new))


def other_apostrophe(sentence):
    return None if "n't" in sentence else changed(sentence, re.sub(r"(?<=\w)'(?=\w)", "’", sentence))


def contraction(apostrophe):
    """Also of sentences with `was not` and the like, which few have contracted."""
    verbs = r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should) not\b"
    def form(sentence):
        plain = re.sub(verbs, r"\1n't", sentence)
        return changed(plain, re.sub(r"(?<=n)'(?=t\b)", apostrophe, plain))
    return form


def quoted(left, right):
    return lambda sentence: None if sentence[0] in "\"'“" else (sentence, left + sentence + right)


def ended(mark):
    return lambda sentence: changed(sentence, sentence.rstrip(" .!?") + mark)


def dashed(dash):
    """For the first comma between two words."""
    def form(sentence):
        plain, typed = (re.sub(r"(?<=[a-z]), (?=[a-z])", mark, sentence, count=1) for mark in (" - ", dash))
        return (plain, typed) if plain != sentence else None
    return form


def hyphen(mark):
    return lambda sentence: changed(sentence, re.sub(r"(?<=\w)-(?=\w)", mark, sentence))


def in_longest_word(change):
    def form(sentence):
        word = max(re.findall(r"[A-Za-z]+", sentence) or [""], key=len)
        return changed(sentence, sentence.replace(word, change(word), 1)) if len(word) > 3 else None
    return form


def in_the_middle(character):
    return in_longest_word(lambda word: word[:len(word) // 2] + character + word[len(word) // 2:])


def decomposed(sentence):
    """An accent on an e, which is in few English sentences by itself."""
    if not re.search(r"\w\we\w", sentence):
        return None
    plain = re.sub(r"(?<=\w\w)e(?=\w)", "é", sentence, count=1)
    return plain, unicodedata.normalize("NFD", plain)


def ligatures(sentence):
    typed = sentence
    for plain, ligature in (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ")):
        typed = typed.replace(plain, ligature)
    return changed(sentence, typed)


def full_width(sentence):
    return sentence, "".join("\u3000" if c == " " else chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in sentence)


def styled(word):
    return "".join(chr(0x1D5D4 + ord(c) - 65) if c.isupper() else chr(0x1D5EE + ord(c) - 97) for c in word)


def mixed(sentence):
    typed = re.sub(r"(?<=\w)'(?=\w)", "’", sentence.rstrip(" .!?")).replace(" ", "\u00a0", 1)
    hidden = in_the_middle("\u200b")(typed)
    return (sentence, "“" + hidden[1] + "…”") if hidden else None


FORMS = [
    ("n’t", contraction("’")),
    ("other ’", other_apostrophe),
    ("n`t", contraction("`")),
    ("n´t", contraction("´")),
    ("nt, without apostrophe", contraction("")),
    ("typographic quotes around it", quoted("“", "”")),
    ("low quotes around it", quoted("„", "“")),
    ("guillemets around it", quoted("«", "»")),
    ("!!! at the end", ended("!!!")),
    ("... at the end", ended("...")),
    ("… at the end", ended("…")),
    ("?! at the end", ended("?!")),
    ("en dash for a hyphen", hyphen("–")),
    ("en dash for a dash", dashed(" – ")),
    ("em dash for a dash", dashed("—")),
    ("-- for a dash", dashed("--")),
    ("non-breaking hyphen", hyphen("\u2011")),
    ("zero-width space in a word", in_the_middle("\u200b")),
    ("soft hyphen in a word", in_the_middle("\u00ad")),
    ("decomposed letter", decomposed),
    ("ligatures", ligatures),
    ("full-width", full_width),
    ("styled letters in a word", in_longest_word(styled)),
    ("no-break spaces", replaced(" ", "\u00a0")),
    ("two spaces", replaced(" ", "  ")),
    ("spaces at the end", lambda sentence: (sentence, sentence + "  ")),
    ("several of these", mixed),
]


def typing(arguments):
    with open(arguments.sentences, encoding="utf-8", errors="replace") as file:
        lines = list(dict.fromkeys(line.strip() for line in file))
    sentences = [line for line in lines if len(line.split()) >= 3]
    forms = []
    for name, form in FORMS:
        pairs = []
        for sentence in sentences:
            if len(pairs) == arguments.number:
                break
            pair = form(sentence)
            if pair:
                pairs.append(pair)
        forms.append((name, pairs))
    rows = iter(vectors(arguments.senv, arguments.model, [line for _, pairs in forms for pair in pairs for line in pair]))
    print("| form | sentences | below .9 | below .97 |\n| --- | --- | --- | --- |")
    for name, pairs in forms:
        cosines = [cosine(next(rows), next(rows)) for _ in pairs]
        # Rounding must not count as a difference.
        shares = [100 * sum(c < bound - 1e-6 for c in cosines) / max(1, len(cosines)) for bound in BOUNDS]
        print(f"| {name} | {len(pairs)} | {shares[0]:.1f} % | {shares[1]:.1f} % |")


def run(senv, *arguments):
    """What a command prints."""
    done = subprocess.run([senv, "-q", *arguments], check=True, stdout=subprocess.PIPE)
    return done.stdout.decode("utf-8")


def objects(senv, *arguments):
    """The objects that a command prints, one per line."""
    return [json.loads(line) for line in run(senv, *arguments, "--json").splitlines()]


def with_file(lines, use):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lines.txt")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write("".join(line + "\n" for line in lines))
        return use(path)


def missed(senv, pairs):
    """The share of typed sentences that `senv dedupe` keeps beside the plain ones."""
    plain = list(dict.fromkeys(pair[0] for pair in pairs))
    lines = plain + [pair[1] for pair in pairs]
    kept = with_file(lines, lambda path: objects(senv, "dedupe", path))
    return 100 * sum(kept_line["line"] > len(plain) for kept_line in kept) / len(pairs)


NEAR = [
    ("Provider package apache-airflow-providers-openfaas", "Provider package apache-airflow-providers-postgres"),
    ("Azure Storagecache Management Client", "Azure Domainregistration Management Client"),
    ("FizzBuzz", "fibonacci"),
]

TYPED = [
    ("I can't log in", "I can’t log in"),
    ("café", "cafe\u0301"),
    ("The screen is broken", "The screen is broken!!!"),
    ("The screen is broken", "The screen is broken…"),
    ("The screen is broken", "“The screen is broken”"),
    ("The screen is broken", "The scr\u200been is broken"),
    ("A low-cost screen", "A low–cost screen"),
    ("The door wasn’t open", "The door was open"),
]

FUNCTION_WORDS = set("""a an and are as at be been but by can could did do does for from had has have he her his how i if
in into is it its me my no not of on or our she so some than that the their them then there these they this those to up us
was we were what when where which who will with would you your""".split())


def open_text(path):
    return gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")


def accuracy(senv, path):
    """Of a regression with the default penalties; the first 3,000 sentences in random order, a third to test."""
    with open_text(path) as file:
        lines = [line.rstrip("\n") for line in file]
    random.Random(1).shuffle(lines)
    options = ["--folds", "3", "--inner-folds", "3"]
    printed = with_file(lines[:3000], lambda path: run(senv, "eval", "classify", path, *options, "--json"))
    return 100 * json.loads(printed)["results"][0]["accuracy"]


def labels_with_function_words(senv, path):
    groups = objects(senv, "cluster", path, "--groups", "60")
    return sum(any(word in FUNCTION_WORDS for word in group["words"]) for group in groups)


def equal_lines(senv, sentences):
    """Of the size of the group of 30 equal lines among 300 others, by a threshold."""
    lines = sentences[:300] + ["Where is my parcel?"] * 30
    groups = with_file(lines, lambda path: objects(senv, "cluster", path, "--threshold", "0.8"))
    return max((group["size"] for group in groups if any("parcel" in s for s in group["sentences"])), default=0)


def report(arguments):
    senv, data = arguments.senv, arguments.data
    with open(arguments.sentences, encoding="utf-8", errors="replace") as file:
        sentences = [line for line in dict.fromkeys(line.strip() for line in file) if len(line.split()) >= 3]
    rows = iter(vectors(senv, arguments.model, [line for pair in TYPED + NEAR for line in pair]))
    for first, second in TYPED + NEAR:
        value = cosine(next(rows), next(rows))
        kept = with_file([first, second], lambda path: len(objects(senv, "dedupe", path)))
        print(f"| {first} / {second!r} | {value:.2f}, {'kept' if kept == 2 else 'dropped'} |", flush=True)
    forms = dict(FORMS)
    for name in ("n’t", "!!! at the end", "… at the end"):
        pairs = [pair for pair in map(forms[name], sentences) if pair][:arguments.number]
        print(f"| {name}: not found by dedupe | {missed(senv, pairs):.1f} % of {len(pairs)} |", flush=True)
    for name in ("intents/hwu64.tsv", "intents/banking77.tsv.gz"):
        print(f"| accuracy on {name} | {accuracy(senv, os.path.join(data, name)):.1f} |", flush=True)
    for name in ("unordered/questions.txt", "corpus/reuters.txt"):
        n = labels_with_function_words(senv, os.path.join(data, name))
        print(f"| groups of 60 with function words in the label, {name} | {n} |", flush=True)
    print(f"| the group of 30 equal lines among 300 | {equal_lines(senv, sentences)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("typing", help="one sentence typed in different ways")
    part.add_argument("sentences", help="a file with one sentence per line")
    part.add_argument("--senv", default="target/release/senv", help="the program")
    part.add_argument("--model", default="english", help="the model")
    part.add_argument("--number", type=int, default=1000, help="sentences for each form")
    part.set_defaults(run=typing)
    part = parts.add_parser("report", help="the figures of a report on real text")
    part.add_argument("sentences", help="a file with one sentence per line")
    part.add_argument("--senv", default="target/release/senv", help="the program")
    part.add_argument("--model", default="english", help="the model of the cosines")
    part.add_argument("--data", default="../shared/data", help="the folder of the data sets")
    part.add_argument("--number", type=int, default=1000, help="sentences for each form")
    part.set_defaults(run=report)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
