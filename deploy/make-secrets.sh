#!/usr/bin/env bash
# Creates the files that a container cluster needs before its first start: cluster id, master key, a certificate authority, and
# one certificate for each node that names the node id (nodes use mutual TLS and check that name).
#
# Layout: cluster.env | ca/{ca.key,ca.crt,master.key} | <node>/{ca.crt,node.crt,node.key,master.key}
# One folder for each node, because that folder is mounted as a whole and a node must not see the key of another. The files belong
# to uid 10001, as which the containers run, mode 0400: the service refuses a master key that other users can open.
# Rule: no existing file is ever overwritten, because the loss of the master key is the loss of all data. Run again, it creates
# missing files (a new node's folder) and leaves the rest. Once the folder of a node exists, the files that all nodes share are
# never created again, because a second master key, authority or cluster id would not fit the first.
set -euo pipefail
shopt -s inherit_errexit

readonly OWNER=10001
readonly DAYS=3650

usage() {
  cat <<'TEXT'
Usage: deploy/make-secrets.sh [--dir DIR] [NODE ...]

  --dir DIR   where the secrets go (default: the folder secrets/ next to this script)
  NODE        node ids (default: n1 n2 n3)

Run it as root: the files are given to uid 10001. Keep a copy of DIR/ca elsewhere, and let no one else read it.
TEXT
}

fail() {
  echo "make-secrets: $1" >&2
  exit "${2:-1}"
}

# Writes the standard output of a command to a new file; an existing file stays, and a partial one never appears.
make_once() {
  local file=$1
  shift
  [[ -e $file ]] && return 0
  "$@" > "$file.new"
  [[ -s $file.new ]] || fail "'$1' wrote nothing for $file"
  mv -n "$file.new" "$file"
  made+=("${file#"$dir"/}")
}

# Each value has its own variable: inside a longer text, a failing openssl would leave an unnoticed gap.
cluster_env() {
  local id
  id=$(openssl rand -hex 16)
  echo "HOLDFAST_CLUSTER__ID=$id"
}

# The line that `holdfast master-key create` writes.
master_key() {
  local id key
  id=$(openssl rand -hex 6)
  key=$(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=\n')
  [[ ${#id} == 12 && ${#key} == 43 ]] || fail 'openssl rand gave too few bytes'
  echo "holdfast-master-key-1:mk-$id:$key"
}

private_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256; }

ca_certificate() {
  openssl req -x509 -new -key "$dir/ca/ca.key" -sha256 -days "$DAYS" -subj '/CN=holdfast cluster CA' \
    -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' -addext 'keyUsage=critical,keyCertSign,cRLSign'
}

node_certificate() {
  local node=$1
  openssl req -new -key "$dir/$node/node.key" -subj "/CN=$node" |
    openssl x509 -req -CA "$dir/ca/ca.crt" -CAkey "$dir/ca/ca.key" -sha256 -days "$DAYS" \
      -set_serial "0x$(openssl rand -hex 16)" \
      -extfile <(printf '%s\n' "subjectAltName=DNS:$node" 'basicConstraints=critical,CA:FALSE' \
        'keyUsage=critical,digitalSignature' 'extendedKeyUsage=serverAuth,clientAuth') 2> "$dir/openssl.log" ||
    { cat "$dir/openssl.log" >&2; return 1; }
}

make_node() {
  local node=$1
  mkdir -p "$dir/$node"
  make_once "$dir/$node/node.key" private_key
  make_once "$dir/$node/node.crt" node_certificate "$node"
  make_once "$dir/$node/ca.crt" cat "$dir/ca/ca.crt"
  make_once "$dir/$node/master.key" cat "$dir/ca/master.key"
  chmod 0400 "$dir/$node"/*
  chmod 0500 "$dir/$node"
  chown -R "$OWNER:$OWNER" "$dir/$node"
}

dir="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/secrets"
nodes=()
while (($# > 0)); do
  case $1 in
    --dir)
      [[ -n ${2-} ]] || fail '--dir needs a folder' 2
      dir=$2
      shift 2
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    -*) fail "unknown option '$1', see --help" 2 ;;
    *)
      nodes+=("$1")
      shift
      ;;
  esac
done
((${#nodes[@]} > 0)) || nodes=(n1 n2 n3)

for node in "${nodes[@]}"; do
  [[ $node =~ ^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$ && $node != ca ]] || fail "'$node' is not a node id" 2
done
command -v openssl > /dev/null || fail 'openssl is missing: install it'
((EUID == 0)) || fail "run it as root (sudo): the files must belong to uid $OWNER, which the containers run as"

made=()
umask 077
if compgen -G "$dir/*/node.key" > /dev/null; then
  for shared in cluster.env ca/master.key ca/ca.key ca/ca.crt; do
    [[ -s $dir/$shared ]] ||
      fail "$dir/$shared is gone while nodes have been made: copy it back, from your backup or (not ca.key) from a node"
  done
fi
# The folder itself and the cluster id are no secret: `docker compose` reads cluster.env as the user who calls it.
mkdir -p "$dir/ca"
chmod 0755 "$dir"
trap 'rm -f "$dir/openssl.log" "$dir"/*.new "$dir"/*/*.new' EXIT
make_once "$dir/cluster.env" cluster_env
chmod 0644 "$dir/cluster.env"
make_once "$dir/ca/master.key" master_key
make_once "$dir/ca/ca.key" private_key
make_once "$dir/ca/ca.crt" ca_certificate
for node in "${nodes[@]}"; do make_node "$node"; done
# Synced to the disk before it is announced, because data will depend on it.
sync -f "$dir"

if ((${#made[@]} > 0)); then
  echo "Made in $dir: ${made[*]}"
  echo "Keep a copy of $dir/ca elsewhere: without master.key all data is lost, and anyone who has it can read all data."
else
  echo "Everything exists already in $dir; nothing was changed."
fi
