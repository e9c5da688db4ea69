"""Folders of Model2Vec encoded by senv, by model2vec-rs and by the Python package, on the same lines.

    pip install model2vec==0.10.0 tokenizers==0.23.3
    cargo build --release --manifest-path crates/peers/against-model2vec/Cargo.toml
    python benches/model2vec_peers.py TEXT [--lines 100000] [--vocabulary 30000] [--dim 256] [--rounds 5]

Trains a WordPiece, a Unigram and a BPE vocabulary on the lines, gives each token a random row, writes the folders, and prints the
median CPU seconds of each program on one thread. senv and model2vec-rs run in turn in one process, Python in this one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

BINARY = Path(__file__).parent.parent / "crates/peers/against-model2vec/target/release/against-model2vec"


def tokenizer(kind, lines, size):
    if kind == "WordPiece":
        made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        made.normalizer = normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=["[PAD]", "[UNK]"], show_progress=False)
    elif kind == "Unigram":
        made = Tokenizer(models.Unigram())
        made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=size, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    else:
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, special_tokens=["<unk>"], show_progress=False)
    made.train_from_iterator(lines, trainer)
    return made


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("text")
    for name, default in [("lines", 100_000), ("vocabulary", 30_000), ("dim", 256), ("rounds", 5)]:
        arguments.add_argument(f"--{name}", type=int, default=default)
    given = arguments.parse_args()
    with open(given.text, encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip("\n") for line, _ in zip(file, range(given.lines))]
    print("folder", "senv", "model2vec-rs", "Python", "largest difference", "lines that differ", sep="\t")
    with tempfile.TemporaryDirectory() as scratch:
        text = Path(scratch) / "text.txt"
        text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for kind in ["WordPiece", "Unigram", "BPE"]:
            made = tokenizer(kind, lines, given.vocabulary)
            rows = np.random.default_rng(7).standard_normal((made.get_vocab_size(), given.dim)).astype(np.float32)
            folder = Path(scratch) / kind
            StaticModel(rows, made, normalize=True).save_pretrained(folder)
            run = subprocess.run([BINARY, folder, text, "1", str(given.rounds)], capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(run.stderr)
            found = dict(line.split("\t") for line in run.stdout.splitlines())
            model = StaticModel.from_pretrained(folder)
            seconds = []
            for _ in range(given.rounds):
                start = time.process_time()
                model.encode(lines, use_multiprocessing=False)
                seconds.append(time.process_time() - start)
            python = sorted(seconds)[len(seconds) // 2]
            print(kind, found["senv"], found["model2vec-rs"], f"{python:.2f}", found["largest difference"],
                  found["lines that differ"], sep="\t", flush=True)


main()
