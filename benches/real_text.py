"""Text as people have it: what senv makes of one sentence typed in different ways.

    cut -f2,3 sts/201[234]/*.tsv | tr '\\t' '\\n' > sentences.txt
    python benches/real_text.py typing --senv target/release/senv sentences.txt

For each form of typing, takes the first sentences of the file that can have it, types them so, and prints how many of them
have a cosine below .9 and below .97 with the sentence before. Needs no package. Figures: docs/experiments/real-text.md.
"""

import argparse
import array
import math
import os
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("typing", help="one sentence typed in different ways")
    part.add_argument("sentences", help="a file with one sentence per line")
    part.add_argument("--senv", default="target/release/senv", help="the program")
    part.add_argument("--model", default="english", help="the model")
    part.add_argument("--number", type=int, default=1000, help="sentences for each form")
    part.set_defaults(run=typing)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
