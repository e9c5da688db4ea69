"""What the words of a collection cost, and how fast a ranking by words and meaning is.

    python benches/word_speed.py --senv target/release/senv sentences.txt queries.txt
    python benches/word_speed.py --senv target/release/senv --documents 5 sentences.txt queries.txt

Indexes the sentences with and without words, adds 1,000 of them, and answers each query with a command of its own, by
meaning, by words and by both: with the files in memory, and after they were dropped from it (clean pages alone, without
root). Memory is the most that is not a page of a file, read every millisecond. With --documents N, each N sentences are
a document (one line of the input). --sizes 10000,100000 repeats it with the first lines. Needs Linux, and no package.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def memory(pid, name):
    """A figure of a process in MB; 0 after its end."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) / 1024 for line in file if line.startswith(name)), 0.0)
    except OSError:
        return 0.0


def run(command):
    """Wall seconds, CPU seconds, and the most anonymous memory in MB."""
    before, start = os.times(), time.perf_counter()
    most = 0.0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while process.poll() is None:
        most = max(most, memory(process.pid, "RssAnon"))
        time.sleep(0.001)
    wall, after = time.perf_counter() - start, os.times()
    if process.returncode != 0:
        sys.exit(process.stderr.read().decode())
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, most


def files(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def drop(folder):
    """Drops the pages of a collection from memory."""
    os.sync()
    for path in files(folder):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def show(name, runs):
    wall, cpu, most = (statistics.median(values) for values in zip(*runs))
    print(f"{name:<28}{1000 * wall:10.1f} ms {1000 * cpu:10.1f} ms CPU {most:10.1f} MB")


def measure(senv, sentences, queries, documents, folder):
    """All figures for these sentences."""
    text, more = (os.path.join(folder, name) for name in ("text.txt", "more.txt"))
    lines = sentences
    if documents > 0:
        lines = [" ".join(sentences[i:i + documents]) for i in range(0, len(sentences), documents)]
    for path, some in ((text, lines), (more, lines[:max(1, 1000 // max(1, documents))])):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in some)
    further = ["--documents"] if documents > 0 else []
    print(f"\n{len(sentences):,} sentences, {len(lines):,} lines, {os.path.getsize(text) / 1e6:.1f} MB of text")
    with_words, without = (os.path.join(folder, name) for name in ("with.index", "without.index"))
    for round in range(3):
        for name, path, options in (("with", with_words, []), ("without", without, ["--no-words"])):
            made = run([senv, "-q", "index", text, "--force", "--output", path] + options + further)
            show(f"index {name} words, {round + 1}", [made])
    facts = json.loads(subprocess.check_output([senv, "info", "--json", with_words]))
    size = facts["words"]["bytes"]
    print(f"words: {size / 1e6:.1f} MB, {100 * size / os.path.getsize(text):.1f} % of the text")
    if documents == 0:
        for name, path in (("with", with_words), ("without", without)):
            added = [run([senv, "-q", "index", more, "--add", "--output", path]) for _ in range(5)]
            show(f"add 1,000, {name} words", added)
    for rank in ("meaning", "words", "hybrid"):
        command = [senv, "-q", "search", with_words, "--rank", rank, "--query"]
        run(command + [queries[0]])
        show(f"{rank}, warm", [run(command + [query]) for query in queries])
        cold = []
        for query in queries[:10]:
            drop(with_words)
            cold.append(run(command + [query]))
        show(f"{rank}, cold", cold)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--senv", required=True, help="the program")
    parser.add_argument("--documents", type=int, default=0, help="sentences of a document")
    parser.add_argument("--sizes", default="", help="numbers of sentences, separated by commas")
    parser.add_argument("sentences")
    parser.add_argument("queries")
    arguments = parser.parse_args()
    with open(arguments.sentences, encoding="utf-8") as file:
        sentences = [line.strip() for line in file if line.strip()]
    with open(arguments.queries, encoding="utf-8") as file:
        queries = [line.strip() for line in file if line.strip()]
    sizes = [int(size) for size in arguments.sizes.split(",") if size] or [len(sentences)]
    for size in sizes:
        # More lines than there are: the sentences again, in turn.
        some = [sentences[i % len(sentences)] for i in range(size)]
        with tempfile.TemporaryDirectory() as folder:
            measure(arguments.senv, some, queries, arguments.documents, folder)


if __name__ == "__main__":
    main()
