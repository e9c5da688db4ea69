#!/usr/bin/env bash
# Makes the models of senv-english from the data: recipe.sh DATA OUT
#
# DATA: a folder with the files below (sources, licences and checksums in MODEL_CARD.md); OUT: a folder for results.
# SENV: the program, `senv` by default. Same data, same bits, at any number of threads.
set -euo pipefail
if [ $# -ne 2 ]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
data=$1 out=$2 senv=${SENV:-senv}
mkdir -p "$out"
corpus=$data/corpus pairs=$data/pairs definitions=$data/definitions groups=$data/groups

# Word vectors to start from.
"$senv" train sent2vec --dim 256 --lr .3 --epochs 3 --min-count 3 --no-check --seed 1 --force \
    --input "$corpus"/novels-0{0,1}.txt.gz "$corpus"/wikipedia-0{0,1}.txt.gz "$corpus"/wikitext2.txt \
    "$corpus"/speeches.txt "$data"/unordered/tatoeba.txt.gz \
    --output "$out"/words.senv

# Averages that tell a paraphrase, a caption of the same image, a definition or the next sentence from others.
"$senv" train pp --loss softmax-cosine --unknown-words hash --no-check --seed 1 --force \
    --init-vectors "$out"/words.senv --keep-vector-words false --dim 256 --nested 128 \
    --captions "$data"/coco/captions.tsv:2 "$groups"/coco.tsv:1 "$groups"/audiocaps.tsv:.3 "$groups"/perspectrum.tsv:.5 \
    "$definitions"/oewn-synonyms.tsv.gz:.5 \
    --nli "$data"/snli/dev.tsv:.4 "$data"/snli/test.tsv:.4 "$data"/snli/cad-train.tsv:.3 \
    --pairs "$pairs"/ppdb.tsv:4 "$pairs"/ppdb-synonyms.tsv:1 "$pairs"/turk.tsv:.4 "$pairs"/onestop.tsv:.3 \
    "$pairs"/wikisplit.tsv:.4 "$pairs"/simplewiki.tsv:.1 "$pairs"/tatoeba.tsv.gz:1 "$definitions"/oewn.tsv.gz:3 \
    "$definitions"/wordset.tsv.gz:1 "$definitions"/webster1913.tsv.gz:.5 \
    --neighbours "$corpus"/novels-00.txt.gz:.7 "$corpus"/novels-01.txt.gz:.52 "$corpus"/wikipedia-00.txt.gz:.56 \
    "$corpus"/wikipedia-01.txt.gz:.1 "$corpus"/wikitext2.txt:.06 "$corpus"/speeches.txt:.06 \
    --decontaminate "$data"/sts/201[234]/*.tsv "$data"/stsb/*.tsv "$data"/sick/*.tsv \
    --min-count 3 --max-vocabulary 50000 --steps STEPS --lr LR \
    --output "$out"/full.senv

"$senv" compress --model "$out"/full.senv --encoding int4 --force --output "$out"/english.senv
"$senv" compress --model "$out"/full.senv --encoding int4 --dim 128 --max-vocabulary 25000 --force \
    --output "$out"/english-small.senv
