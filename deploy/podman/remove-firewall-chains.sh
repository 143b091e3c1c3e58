#!/usr/bin/env bash
# Removes the firewall chains that podman's netavark leaves behind after its last network is gone.
# Rule: it removes only chains and rules with netavark's name, and only while no container runs.
set -euo pipefail

command -v iptables > /dev/null || exit 0
[[ -z $(podman ps --quiet) ]] || exit 0

for table in filter nat; do
  rules=$(iptables -t "$table" -S | grep NETAVARK || true)
  [[ -n $rules ]] || continue
  while read -r action rest; do
    # eval splits the rule into words as iptables quoted them.
    if [[ $action == -A ]]; then eval "iptables -t $table -D $rest"; fi
  done <<< "$rules"
  while read -r chain; do
    iptables -t "$table" -X "$chain"
  done < <(awk '$1 == "-N" { print $2 }' <<< "$rules")
done
