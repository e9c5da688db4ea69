"""Near-duplicates of a text: senv beside semhash, in turn, and beside every pair compared.

    senv convert english english-model2vec --to model2vec
    pip install semhash numpy psutil
    python benches/dedupe_peers.py --senv target/release/senv --model english-model2vec text.txt

Prints CPU seconds (user and system, of the process and its children), what is kept, and how many of the sentences that the
threshold drops each has found. Figures: docs/performance.md.
"""

import argparse
import os
import resource
import subprocess
import sys
import time

import numpy as np


def cpu(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def run_senv(senv, path, threshold):
    """What `senv dedupe` keeps, and its CPU seconds."""
    before, started = cpu(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run([senv, "-q", "dedupe", path, "--threshold", str(threshold)], capture_output=True, check=True)
    return done.stdout.decode().splitlines(), cpu(resource.RUSAGE_CHILDREN) - before, time.time() - started


def run_semhash(model, path, threshold):
    """The same in a process of its own, which prints what it keeps."""
    before, started = cpu(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(
        [sys.executable, __file__, "--only-semhash", "--model", model, "--threshold", str(threshold), path],
        capture_output=True, check=True)
    return done.stdout.decode().splitlines(), cpu(resource.RUSAGE_CHILDREN) - before, time.time() - started


def only_semhash(model, path, threshold):
    from model2vec import StaticModel
    from semhash import SemHash

    lines = [line for line in open(path).read().splitlines() if line.strip()]
    hash = SemHash.from_records(lines, model=StaticModel.from_pretrained(model))
    sys.stdout.write("".join(line + "\n" for line in hash.self_deduplicate(threshold=threshold).selected))


def brute_force(senv, path, threshold):
    """What is kept when every pair is compared, in order, in f64."""
    vectors = path + ".npy"
    subprocess.run([senv, "-q", "encode", path, "--output", vectors, "--force"], check=True)
    rows, lines = np.load(vectors).astype(np.float64), open(path).read().splitlines()
    os.remove(vectors)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    kept, texts, units, n = [], set(), np.empty_like(rows), 0
    for start in range(0, len(rows), 1000):
        block = rows[start:start + 1000]
        near = (block @ units[:n].T >= threshold).any(axis=1) if n > 0 else np.zeros(len(block), bool)
        first = n
        for row, line, is_near in zip(block, lines[start:start + 1000], near):
            if line.strip() and not is_near and line not in texts:
                if not (units[first:n] @ row >= threshold).any():
                    kept.append(line)
                    units[n], n = row, n + 1
            texts.add(line)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("--senv", default="senv")
    parser.add_argument("--model", required=True, help="the English model as a Model2Vec folder")
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only-semhash", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only_semhash:
        return only_semhash(args.model, args.text, args.threshold)
    expected = brute_force(args.senv, args.text, args.threshold)
    print(f"every pair compared: {len(expected)} kept")
    for _ in range(args.rounds):
        for name, run in [
            ("senv", lambda: run_senv(args.senv, args.text, args.threshold)),
            ("semhash", lambda: run_semhash(args.model, args.text, args.threshold)),
        ]:
            kept, seconds, wall = run()
            left, wanted = set(kept), set(expected)
            print(f"{name}: {seconds:.1f} CPU s, {wall:.1f} s, {len(kept)} kept, "
                  f"{len(left - wanted)} of them to be dropped, {len(wanted - left)} dropped that should stay", flush=True)


main()
