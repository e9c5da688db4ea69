#!/usr/bin/env bash
# Makes the model of senv-english from the data: recipe.sh DATA OUT
#
# DATA: a folder with the files below (sources, licenses and checksums in MODEL_CARD.md); OUT: a folder for results.
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
"$senv" train sent2vec --dim 256 --lr .3 --epochs 6 --min-count 3 --seed 1 --normalize none --no-check --force \
    --input "$corpus"/wikipedia-0{0,1}.txt.gz "$corpus"/wikitext2.txt "$corpus"/speeches.txt \
    "$data"/unordered/tatoeba.txt.gz "$data"/unordered/questions.txt "$definitions"/oewn-examples.tsv.gz \
    --output "$out"/words.senv

# Averages that tell a paraphrase, a caption of the same image, a definition or the next sentence from others. A number
# behind a colon is the share of a file in the batches; the sum does not matter. Four runs that differ in their seed alone.
for seed in 1 2 3 4; do
    "$senv" train pp --loss softmax-cosine --temperature .08 --lr 2 --steps 5000 --batch 2048 --dim 256 --seed $seed \
        --init-vectors "$out"/words.senv --keep-vector-words false --min-count 3 --max-vocabulary 50000 \
        --unknown-words hash --normalize none --no-check --force \
        --captions "$data"/coco/captions.tsv:2 "$groups"/coco.tsv:1 "$groups"/audiocaps.tsv:.3 "$groups"/perspectrum.tsv:.5 \
        "$groups"/paraqa.tsv.gz:.3 "$definitions"/oewn-synonyms.tsv.gz:.5 \
        --nli "$data"/snli/dev.tsv:.4 "$data"/snli/test.tsv:.4 "$data"/snli/cad-train.tsv:.3 \
        --pairs "$pairs"/ppdb.tsv:4 "$pairs"/ppdb-synonyms.tsv:1 "$pairs"/turk.tsv:.4 "$pairs"/onestop.tsv:.3 \
        "$pairs"/wikisplit.tsv:.4 "$pairs"/simplewiki.tsv:.1 "$pairs"/tatoeba.tsv.gz:1 "$pairs"/bible-web-bsb.tsv.gz:.5 \
        "$definitions"/oewn.tsv.gz:3 "$definitions"/wordset.tsv.gz:1 "$definitions"/webster1913.tsv.gz:.5 \
        --neighbours "$corpus"/wikipedia-00.txt.gz:1.5 "$corpus"/wikipedia-01.txt.gz:.26 "$corpus"/wikitext2.txt:.14 \
        "$corpus"/speeches.txt:.1 \
        --decontaminate "$data"/sts/201[234]/*.tsv "$data"/stsb/*.tsv "$data"/sick/*.tsv \
        --output "$out"/seed$seed.senv
done

# The four side by side, brought down to the 256 strongest axes; weaker axes are drawn up, unknown words count less than known
# ones, four bits a value.
"$senv" compress --model "$out"/seed1.senv --with "$out"/seed{2,3,4}.senv --principal 256 --whitening .25 --unknown-length .75 \
    --encoding int4 --force --output "$out"/table.senv

# Behind the table a part that reads word order and negation, learned from pairs with nearly the same words. Ordinary pairs hold
# similarities in place, and scored ones say how much the part may count.
"$senv" train order --init-model "$out"/table.senv --steps 4000 --seed 1 --force \
    --train "$data"/order/paws-train.tsv.gz \
    --pairs "$pairs"/tatoeba.tsv.gz "$pairs"/turk.tsv "$pairs"/simplewiki.tsv "$pairs"/onestop.tsv "$pairs"/wikisplit.tsv \
    --captions "$data"/coco/captions.tsv "$groups"/coco.tsv "$groups"/audiocaps.tsv "$groups"/perspectrum.tsv \
    "$definitions"/wordset.tsv.gz \
    --nli "$data"/snli/dev.tsv "$data"/snli/cad-train.tsv \
    --neighbours "$corpus"/wikipedia-00.txt.gz \
    --gate "$data"/sts/2012-train/*.tsv \
    --decontaminate "$data"/sts/201[234]/*.tsv "$data"/stsb/dev.tsv "$data"/sick/*.tsv \
    --output "$out"/order.senv

# Trained on text as it is, and used with text in every typing. All scores stay within half a point.
"$senv" compress --model "$out"/order.senv --encoding int4 --normalize typing --force --output "$out"/english.senv
