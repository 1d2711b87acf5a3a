#!/usr/bin/env bash
# The elastic bar of the half-explicit paper: 50 and 1000 elements, with and without stiffness-proportional damping.
# A second and further argument choose other numbers of elements.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"
shift || true
elements=("$@")
if ((${#elements[@]} == 0)); then elements=(50 1000); fi

# The centre's velocity wants all nodes in the result.
sed "s/rate: -v0,/rate: -v0, record: unknowns,/" "$models/elastic-bar.yaml" >every-node.yaml
cases=()
for n in "${elements[@]}"; do
    for damping in undamped damped; do
        beta=0
        if [[ $damping == damped ]]; then beta=1e3/E; fi
        case=bar-$n-$damping
        simulate every-node.yaml --set n=$n --set beta=$beta --every 5 --out wide.csv
        awk -F, -f "$studies/narrow.awk" wide.csv >$case.csv
        mv wide.csv.events.csv $case.events.csv
        awk -F, -f "$studies/bar-figures.awk" $case.events.csv $case.csv >$case.figures
        cases+=("$case")
    done
done
rm -f wide.csv

files=("${cases[@]/%/.figures}")
titles=("${cases[@]#bar-}")
titles=("${titles[@]/%-undamped/ elements}")
echo "| | $(printf '%s | ' "${titles[@]/%-damped/, damped}")elastic bar, undamped |"
printf '|---%.0s' "" "${cases[@]}" ""
echo "|"
# bar-labels.txt: name, exact value of the elastic bar, label
awk 'FNR == NR { name[++n] = $1; exact[$1] = $2; label[$1] = substr($0, length($1 " " $2 " ") + 1); next } { row[$1] = row[$1] " " $2 " |" }
     END { for (i = 1; i <= n; ++i) print "| " label[name[i]] " |" row[name[i]] " " exact[name[i]] " |" }' "$studies/bar-labels.txt" "${files[@]}"
echo

for n in "${elements[@]}"; do
    status=0
    "$carom" run "$models/elastic-bar.yaml" --set n=$n --scheme moreau-explicit --out explosion.h5 >explosion.txt 2>&1 || status=$?
    echo "moreau-explicit, $n elements, exit status $status:"
    grep -E '^carom:|energy  ' explosion.txt
done

for n in "${elements[@]}"; do draw bar.gp "picture='bar-$n.png'; name='bar-$n'"; done
