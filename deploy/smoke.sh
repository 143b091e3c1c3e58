#!/usr/bin/env bash
# Checks that a running cluster works: creates a tenant and a key through the admin API, uploads a random file
# through one node, downloads it through the others, and compares the digests.
#
# HOLDFAST_OWNER_TOKEN contains an owner token. Needs curl and sha256sum, nothing of this repository.
set -euo pipefail
shopt -s inherit_errexit

usage() {
  cat <<'TEXT'
Usage: HOLDFAST_OWNER_TOKEN=svcadm_... deploy/smoke.sh ADMIN_URL UPLOAD_URL DOWNLOAD_URL ...

Example: deploy/smoke.sh http://127.0.0.1:9001 http://127.0.0.1:9000 http://127.0.0.1:9010 http://127.0.0.1:9020
SMOKE_MIB sets the size of the file (default 32). SMOKE_STATE names a file that keeps tenant, bucket and key for
another run, which then only downloads again.
TEXT
}

(($# >= 3)) || { usage >&2; exit 2; }
: "${HOLDFAST_OWNER_TOKEN:?is not set: make one with admin-token create --role owner}"
readonly ADMIN=$1/admin/api/v1 UPLOAD=$2/api/v1
shift 2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 077

# Credentials go to curl through a file, not through its arguments, which every user of the machine can see.
# Prints the body; no answer, or a status of 400 or more, ends the run and shows the answer of the service.
call() {
  local credentials=$1
  shift
  local status
  rm -f "$work/answer"
  status=$(curl --silent --show-error --max-time 120 --config <(echo "$credentials") \
    --output "$work/answer" --write-out '%{http_code}' "$@") || { echo "smoke: no answer from ${*: -1}" >&2; return 1; }
  if ((status >= 400)); then
    echo "smoke: $status from ${*: -1}: $(head -c 2000 "$work/answer")" >&2
    return 1
  fi
  [[ ! -e $work/answer ]] || cat "$work/answer"
}

bearer() { echo "header = \"Authorization: Bearer $1\""; }
json() { call "$1" --header 'Content-Type: application/json' --data "$2" "$3"; }
# One text member of a flat JSON answer.
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

data_token() {
  local answer
  answer=$(call "user = \"$access_key:$secret_key\"" --request POST "$UPLOAD/auth/token")
  member token <<< "$answer"
}

upload() {
  local suffix answer
  suffix=$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
  tenant=smoke-$suffix bucket=smoke-$suffix
  json "$(bearer "$HOLDFAST_OWNER_TOKEN")" "{\"id\":\"$tenant\",\"name\":\"Smoke test\"}" "$ADMIN/tenants" > /dev/null
  answer=$(json "$(bearer "$HOLDFAST_OWNER_TOKEN")" '{"scopes":"read,write,delete,admin","name":"smoke"}' \
    "$ADMIN/tenants/$tenant/keys")
  access_key=$(member accessKeyId <<< "$answer")
  secret_key=$(member secretKey <<< "$answer")
  [[ -n $access_key && -n $secret_key ]] || { echo "smoke: the answer to a new key holds none" >&2; return 1; }
  token=$(data_token)
  json "$(bearer "$token")" "{\"name\":\"$bucket\"}" "$UPLOAD/buckets" > /dev/null
  head -c "$((${SMOKE_MIB:-32} * 1024 * 1024))" /dev/urandom > "$work/file"
  call "$(bearer "$token")" --upload-file "$work/file" "$UPLOAD/buckets/$bucket/objects/file" > /dev/null
  digest=$(sha256sum < "$work/file")
  echo "smoke: uploaded ${SMOKE_MIB:-32} MiB of random bytes through $UPLOAD, sha256 ${digest%% *}"
}

if [[ -n ${SMOKE_STATE-} && -e $SMOKE_STATE ]]; then
  # shellcheck source=/dev/null
  source "$SMOKE_STATE"
  token=$(data_token)
else
  upload
  [[ -z ${SMOKE_STATE-} ]] || declare -p tenant bucket access_key secret_key digest > "$SMOKE_STATE"
fi

for url in "$@"; do
  call "$(bearer "$token")" "$url/api/v1/buckets/$bucket/objects/file" > "$work/copy"
  found=$(sha256sum < "$work/copy")
  [[ $found == "$digest" ]] || { echo "smoke: $url gave sha256 $found, expected $digest" >&2; exit 1; }
  echo "smoke: downloaded through $url, sha256 agrees"
done
