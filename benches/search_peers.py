#!/usr/bin/env python3
"""Builds and searches indices of the peers of senv-index: recall, queries a second of CPU time, CPU seconds of the build, bytes a row.

    pip install numpy faiss-cpu==1.15.1 hnswlib==0.8.0 usearch==2.26.6
    senv encode --input sentences.txt --output rows.npy
    senv encode --input others.txt --output queries.npy
    python3 benches/search_peers.py rows.npy queries.npy --peers faiss-flat,faiss-ivf,faiss-pq --rows 250000 --ours target/release/examples/search_speed

One thread; recall is that of the ten rows of highest cosine. Each line of a peer is the
median of --rounds runs; with --ours the example program of senv-index is run in turn with them, on the same rows.
turbovec has a program of its own: crates/peers/against-turbovec. hnswlib takes 7 CPU minutes to build a million rows: --keep FOLDER
keeps its index for the next time.
"""
import argparse
import os
import statistics
import subprocess
import time

for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[name] = "1"
import numpy as np

K = 10


def timed(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def truth_of(rows, queries):
    nearest = []
    for block in np.array_split(queries, max(1, len(queries) // 100)):
        scores = block @ rows.T
        top = np.argpartition(-scores, K, axis=1)[:, :K]
        nearest.append(top)
    return np.concatenate(nearest)


def recall(found, truth):
    return sum(len(set(a) & set(b)) for a, b in zip(found.tolist(), truth.tolist())) / truth.size


def sweep(name, options, search, queries, truth, rounds, batches):
    for option in options:
        for batch in batches:
            times = []
            for _ in range(rounds):
                parts = [queries[i : i + batch] for i in range(0, len(queries), batch)]
                c, found = timed(lambda: np.concatenate([search(part, option) for part in parts]))
                times.append(c)
            rate = len(queries) / statistics.median(times)
            print(f"{name}\t{option}\t{batch}\t{recall(found, truth):.4f}\t{rate:.0f}", flush=True)


def hnswlib_peer(rows, queries, truth, args):
    import hnswlib

    kept = args.keep and os.path.join(args.keep, f"hnsw_{len(rows)}.bin")
    index = hnswlib.Index("ip", rows.shape[1])
    if kept and os.path.exists(kept):
        index.load_index(kept, max_elements=len(rows))
        print(f"hnswlib M 16, efConstruction 128: loaded, {os.path.getsize(kept) / len(rows):.0f} bytes a row with its own")
    else:
        index.init_index(len(rows), M=16, ef_construction=128)
        c, _ = timed(lambda: index.add_items(rows, num_threads=1))
        print(f"hnswlib M 16, efConstruction 128: build {c:.1f} s CPU", flush=True)
        if kept:
            index.save_index(kept)
    index.set_num_threads(1)

    def search(part, ef):
        index.set_ef(ef)
        return index.knn_query(part, k=K, num_threads=1)[0]

    sweep("hnswlib", [20, 40, 80, 120, 160, 240, 320, 480, 640, 1024], search, queries, truth, args.rounds, [1])


def usearch_peer(rows, queries, truth, args):
    from usearch.index import Index

    index = Index(ndim=rows.shape[1], metric="ip", dtype="f32", connectivity=16, expansion_add=128)
    c, _ = timed(lambda: index.add(np.arange(len(rows)), rows, threads=1))
    print(f"usearch M 16, 128, f32: build {c:.1f} s CPU, {index.memory_usage / len(rows):.0f} bytes a row with its own", flush=True)

    def search(part, expansion):
        index.expansion_search = expansion
        found = index.search(part if len(part) > 1 else part[0], K, threads=1)
        return np.asarray(found.keys).reshape(len(part), K).astype(np.int64)

    sweep("usearch", [20, 40, 80, 120, 160, 240, 320, 480, 640, 1024], search, queries, truth, args.rounds, [1])


def faiss_flat(rows, queries, truth, args):
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(rows.shape[1])
    c, _ = timed(lambda: index.add(rows))
    print(f"faiss IndexFlatIP: build {c:.1f} s CPU, {4 * rows.shape[1]} bytes a row", flush=True)
    sweep("faiss flat", ["exact"], lambda part, _: index.search(part, K)[1], queries, truth, args.rounds, [1, 100, 1000])


def faiss_ivf(rows, queries, truth, args):
    import faiss

    faiss.omp_set_num_threads(1)
    cells = 1 << max(0, round(np.log2(len(rows) / 1000)))
    index = faiss.index_factory(rows.shape[1], f"IVF{cells},SQ8", faiss.METRIC_INNER_PRODUCT)

    def build():
        index.train(rows[:: max(1, len(rows) // (64 * cells))])
        index.add(rows)

    c, _ = timed(build)
    size = faiss.serialize_index(index).nbytes / len(rows)
    print(f"faiss IVF{cells},SQ8: build {c:.1f} s CPU, {size:.0f} bytes a row", flush=True)

    def search(part, cells):
        index.nprobe = cells
        return index.search(part, K)[1]

    sweep("faiss IVF int8", [8, 16, 32, 64, 128], search, queries, truth, args.rounds, [1])


def faiss_pq(rows, queries, truth, args):
    import faiss

    faiss.omp_set_num_threads(1)
    dim = rows.shape[1]
    index = faiss.index_factory(dim, f"PQ{dim // 2}x4fs", faiss.METRIC_INNER_PRODUCT)

    def build():
        index.train(rows[:: max(1, len(rows) // 50_000)])
        index.add(rows)

    c, _ = timed(build)
    print(f"faiss PQ{dim // 2}x4fs: build {c:.1f} s CPU, {dim // 4} bytes a row", flush=True)

    def search(part, candidates):
        found = index.search(part, candidates)[1]
        cosines = np.einsum("qd,qcd->qc", part, rows[found])
        return np.take_along_axis(found, np.argsort(-cosines, axis=1)[:, :K], axis=1)

    sweep("faiss PQ, rescored", [30, 100, 400], search, queries, truth, args.rounds, [1, 100, 1000])


# Each with the settings of senv-index that are run in turn with it.
ONE_AT_A_TIME = ["cells=auto", "batch=1,1,1", "recall=.8,.85,.9,.925,.95,.96,.97,.98,.99"]
BATCHES = ["cells=0", "batch=1,100,1000", "recall=.95,.99"]
PEERS = {
    "hnswlib": (hnswlib_peer, ONE_AT_A_TIME),
    "usearch": (usearch_peer, ONE_AT_A_TIME),
    "faiss-flat": (faiss_flat, BATCHES),
    "faiss-ivf": (faiss_ivf, ONE_AT_A_TIME),
    "faiss-pq": (faiss_pq, BATCHES),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows")
    parser.add_argument("queries")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rows", dest="n_rows", type=int, help="only the first rows")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", help="a folder for the index of hnswlib")
    parser.add_argument("--ours", help="the program of `cargo build --release -p senv-index --example search_speed`")
    args = parser.parse_args()
    unit = lambda x: np.ascontiguousarray(x / np.linalg.norm(x, axis=1, keepdims=True), dtype=np.float32)
    rows, queries = unit(np.load(args.rows)[: args.n_rows]), unit(np.load(args.queries))
    truth = truth_of(rows, queries)
    print("engine\teffort\tqueries in a call\trecall\tqueries/s of CPU time")
    for name in args.peers.split(","):
        peer, settings = PEERS[name]
        peer(rows, queries, truth, args)
        if args.ours:
            print("senv-index: cells, recall asked for, queries in a call, recall, queries/s of CPU and of wall time", flush=True)
            subprocess.run([args.ours, args.rows, args.queries, f"rows={len(rows)}", *settings], check=True)


if __name__ == "__main__":
    main()
