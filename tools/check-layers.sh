#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails when a file includes what layers.txt does not allow. Usage: check-layers.sh [ROOT]
cd "${1:-$(dirname "$0")/..}" || exit 2
files=$(find include src lab apps peers \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cl' \) 2>/dev/null)
# shellcheck disable=SC2086 # one file a word
awk '
    function complain(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; bad = 1 }

    FILENAME == "layers.txt" {
        sub(/#.*/, "")
        if (NF == 0) next
        known[$1] = may[$1, $1] = ++layers
        for (i = 2; i <= NF && $i != ":"; i++) {
            if (!($i in known) && $i != "public") complain($i " has no line above this one")
            may[$1, $i] = 1
        }
        for (i++; i <= NF; i++) owner["gyre/" $i ".h"] = $1
        next
    }
    FNR == 1 {
        split(FILENAME, part, "/")
        public = part[1] == "include"
        layer = public ? owner[part[2] "/" part[3]] : part[2]
        if (part[1] == "apps" || (part[1] == "peers" && part[2] ~ /[.]/)) layer = part[1]
        if (!(layer in known)) complain("layers.txt does not know this folder or public header")
    }
    /^[ \t]*#[ \t]*include[ \t]*["<]/ {
        quoted = /include[ \t]*"/
        split($0, piece, /["<>]/); path = piece[2]
        depth = split(path, part, "/"); target = part[1]
        if (target == "peers" && depth > 2) target = part[2]
        if (target == "gyre") target = owner[path]
        if (path ~ /\.\./) complain("write the path from the root, without ..")
        else if (part[1] == "gyre" && target == "") complain(path " is not in layers.txt")
        else if (part[1] == "gyre" && (layer, "public") in may) next
        else if (public && quoted && part[1] != "gyre") complain("public, but includes " path)
        else if (depth == 1 || (!quoted && !(target in known))) next
        else if (!((layer, target) in may)) complain(layer " may not include " path)
    }
    END { if (!layers) { print "layers.txt: empty"; bad = 1 }; exit bad }
' layers.txt $files
