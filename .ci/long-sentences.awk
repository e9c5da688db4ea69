# Prints sentences of more than `most` words: of Markdown, and of comments in Rust. A piece of code counts as one word.
function check(text,    sentence, n, n_parts, parts, k) {
    gsub(/`[^`]*`/, "`X`", text)
    gsub(/\]\([^)]*\)/, "]", text)
    while (text != "") {
        if (match(text, /[.!?]["”)*_]*[ ]+|[:;][ ]+[A-Z`"“(\[*]/)) {
            sentence = substr(text, 1, RSTART)
            text = substr(text, RSTART + RLENGTH - (substr(text, RSTART, 1) ~ /[:;]/))
        } else {
            sentence = text
            text = ""
        }
        n_parts = split(sentence, parts, /[ ]+/)
        n = 0
        for (k = 1; k <= n_parts; k++) if (parts[k] ~ /[A-Za-z0-9]/) n++
        if (n > most) printf "%s:%d: a sentence of %d words: %s\n", file, start, n, sentence
    }
}
function flush() { if (held != "") check(held); held = "" }
FNR == 1 { flush(); fence = 0; kind = "" }
{
    line = $0
    sub(/^[ \t]+/, "", line)
    this = "text"
    if (FILENAME ~ /\.rs$/) {
        if (line !~ /^\/\//) { flush(); kind = ""; fence = 0; next }
        this = substr(line, 1, 3)
        if (this != "///" && this != "//!") this = "//"
        line = substr(line, length(this) + 1)
        sub(/^[ \t]+/, "", line)
    }
    if (this != kind) { flush(); fence = 0 }
    kind = this
    if (line ~ /^(```|~~~)/) { flush(); fence = !fence; next }
    if (fence) next
    if (line == "" || line ~ /^#/ || line ~ /^\[[^]]*\]: /) { flush(); next }
    if (line ~ /^\|/) {
        flush(); start = FNR; file = FILENAME
        gsub(/`[^`]*`/, "`X`", line)
        n_cells = split(line, cells, "|")
        for (i = 1; i <= n_cells; i++) check(cells[i])
        next
    }
    if (line ~ /^([*+-]|[0-9]+[.])[ ]/) { flush(); sub(/^[^ ]+ +/, "", line) }
    if (held == "") { held = line; start = FNR; file = FILENAME } else held = held " " line
}
END { flush() }
