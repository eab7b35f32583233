#!/bin/sh
# Try an installed ragkpi: sh tests/installed.sh RAGKPI FIXTURES [READER]. Every line must succeed;
# READER is compiled or plain, where it has to be one of them.
set -eu
ragkpi=$1
fixtures=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$ragkpi" --version | grep "(${3:-.*} reader)$"
"$ragkpi" eval -m map "$fixtures/qrels.txt" "$fixtures/reranked.run" | grep '^map  *	all	0\.'
"$ragkpi" compare -c -m ndcg_cut.10 "$fixtures/qrels.txt" "$fixtures"/runs/*.run > "$folder/compare"
"$ragkpi" depth -N 5000 "$fixtures/qrels.txt" "$fixtures/first_stage.run" --format json -o "$folder/depth.json"
"$ragkpi" agree "$fixtures/qrels.txt" "$fixtures/qrels.llm.txt" > "$folder/agree"
"$ragkpi" measures bor > "$folder/bor"
"$ragkpi" schema > "$folder/schema.json"
test -s "$folder/compare" && test -s "$folder/depth.json" && test -s "$folder/agree" && test -s "$folder/schema.json"
