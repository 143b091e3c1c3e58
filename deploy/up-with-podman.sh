#!/usr/bin/env bash
# Starts the three-node container cluster with Debian's podman, checks that it stores and serves a file,
# survives the loss of its leader and is seen by Prometheus, and takes it down again. No image registry is needed; the base image comes from
# debootstrap (Debian's archive) and the build's packages from npm. The cluster itself uses no external network.
#
# Every step is bounded, and one that takes too long is named with what to look at; also after a failure, containers, networks, volumes and firewall chains of this run are removed
# (unless --keep is given). The two images stay for the next run: podman rmi holdfast:local removes the second.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly PROJECT=holdfast-podman PROMETHEUS_IMAGE=docker.io/prom/prometheus:v3.5.0
readonly READY_S_MAX=120

usage() {
  cat <<'TEXT'
Usage: deploy/up-with-podman.sh [--base-port P] [--keep] [--down]

  --base-port P   host ports P, P+1 (n1: data, admin), P+10, P+11 (n2), P+20, P+21 (n3), P+90 (Prometheus);
                  default 9000
  --keep          leave the cluster running at the end and print how to reach it
  --down          only remove what an earlier run left (containers, networks, volumes; images and secrets stay)

Run as root on Debian with: apt-get install podman podman-compose runc debootstrap netavark aardvark-dns iptables
curl. With Debian's prometheus package, Prometheus runs beside the cluster, otherwise it is left out.
TEXT
}

fail() {
  echo "up-with-podman: $1" >&2
  exit "${2:-1}"
}

# Each step has a name, a limit in seconds, and what to look at when it takes longer.
step_name=start step_begun=0 step_s_max=0 step_look=''
step() {
  step_name=$1 step_s_max=$2 step_look=$3 step_begun=$SECONDS
  echo "== $step_name"
}
in_time() { ((SECONDS - step_begun < step_s_max)); }
timed_out() {
  fail "step '$step_name' timed out after $((SECONDS - step_begun)) s (limit $step_s_max s)${1:+: $1}. Look at: $step_look"
}
# Runs a command for what is left of the step, in the foreground, so that Ctrl-C reaches it.
bounded() {
  local code=0 left=$((step_s_max - (SECONDS - step_begun)))
  timeout --foreground "$((left > 0 ? left : 1))" "$@" || code=$?
  ((code != 124)) || timed_out
  return "$code"
}
took() { echo "   $1 after $((SECONDS - step_begun)) s"; }

check_tools() {
  local tool missing=()
  for tool in podman podman-compose runc debootstrap iptables curl npm; do
    command -v "$tool" > /dev/null || missing+=("$tool")
  done
  [[ -x /usr/lib/podman/netavark ]] || missing+=(netavark)
  [[ -x /usr/lib/podman/aardvark-dns ]] || missing+=(aardvark-dns)
  ((${#missing[@]} == 0)) || fail "missing: ${missing[*]} (apt-get install ${missing[*]})"
  ((EUID == 0)) || fail 'run it as root: debootstrap needs it'
}

# Settings only of this run: nothing under /etc is changed. runc and cgroupfs work without systemd, too.
podman_settings() {
  cat > "$work/containers.conf" <<'TEXT'
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=20000:20000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
TEXT
  export CONTAINERS_CONF=$work/containers.conf
}

compose() { bounded podman-compose -p "$PROJECT" -f "$root/docker-compose.cluster.yml" "$@"; }

build_image() {
  local extra=()
  # A registry proxy with its own certificate authority: the same file serves npm inside the build.
  if [[ -n ${NODE_EXTRA_CA_CERTS-} ]]; then
    extra=(--volume "$NODE_EXTRA_CA_CERTS:/tmp/extra-ca.pem:ro" --build-arg NODE_EXTRA_CA_CERTS=/tmp/extra-ca.pem)
  fi
  # The docker format, because the OCI format has no health checks.
  bounded podman build --format docker --network host "${extra[@]}" \
    -f "$root/deploy/Dockerfile" -t holdfast:local "$root" > "$work/build.log" 2>&1 ||
    { tail -n 30 "$work/build.log" >&2; fail 'the image cannot be built'; }
}

# Debian's prometheus instead of the published image, under its name, only on this machine.
prometheus_image() {
  local binary
  podman image exists "$PROMETHEUS_IMAGE" && return 0
  binary=$(command -v prometheus) || return 1
  mkdir "$work/prometheus"
  cp "$binary" "$work/prometheus/prometheus"
  cat > "$work/prometheus/Dockerfile" <<'TEXT'
FROM docker.io/library/node:24-bookworm-slim
COPY prometheus /bin/prometheus
RUN mkdir /prometheus && chown 65534:65534 /prometheus
USER 65534
ENTRYPOINT ["/bin/prometheus"]
TEXT
  bounded podman build --quiet --network none -t "$PROMETHEUS_IMAGE" "$work/prometheus" > /dev/null
}

# Containers, volumes and networks of the project, created by podman-compose or podman.
left_over() {
  podman ps --all --quiet --filter "label=io.podman.compose.project=$PROJECT"
  podman volume ls --quiet --filter "label=io.podman.compose.project=$PROJECT"
  podman network ls --quiet --filter "name=^${PROJECT}_"
}

take_down() {
  local rest
  compose down -v > "$work/down.log" 2>&1 || cat "$work/down.log" >&2
  # Older podman-compose leaves the networks.
  podman network ls --quiet --filter "name=^${PROJECT}_" | xargs -r podman network rm -f > /dev/null
  rest=$(left_over)
  [[ -z $rest ]] || { echo "up-with-podman: not removed: $rest" >&2; return 1; }
  bash "$root/deploy/podman/remove-firewall-chains.sh"
}

finish() {
  local code=$?
  trap - EXIT INT TERM
  if ((code != 0 && started)); then
    for node in init n1 n2 n3; do
      podman container exists "${PROJECT}_${node}_1" || continue
      echo "-- last lines of $node" >&2
      podman logs --tail 15 "${PROJECT}_${node}_1" >&2 || true
    done
  fi
  if ((keep && code == 0)); then
    echo "It keeps running. Secrets and owner token: $work. Take it down: deploy/up-with-podman.sh --down && rm -r $work"
    exit 0
  fi
  if ((started)); then
    step 'take it down' 120 'podman ps --all, podman volume ls, podman network ls'
    take_down || code=1
  fi
  rm -rf "$work"
  exit "$code"
}

wait_ready() {
  local url
  for url in "$@"; do
    until curl --silent --fail --max-time 2 --output /dev/null "$url/readyz"; do
      in_time || timed_out "$url/readyz says: $(curl --silent --max-time 2 "$url/readyz" || echo nothing)"
      sleep 0.5
    done
  done
}

# The first scrape comes up to one interval after the start.
wait_scraped() {
  local written loaded url="http://127.0.0.1:$PROMETHEUS_PORT/api/v1"
  until [[ $(curl --silent --max-time 2 "$url/targets?state=active" | grep -o '"health":"up"' | wc -l) == "$1" ]]; do
    in_time || timed_out "Prometheus does not see $1 nodes up"
    sleep 0.5
  done
  written=$(grep -c -- '- alert:' "$root/deploy/prometheus/alerts.yml")
  loaded=$(curl --silent --max-time 5 "$url/rules" | grep -o '"type":"alerting"' | wc -l)
  [[ $loaded == "$written" ]] || fail "Prometheus loaded $loaded of $written alert rules"
  took "$1 of 3 targets up, $loaded alert rules loaded,"
}

# Sets `leader` to the position of the node that leads, among the positions given.
find_leader() {
  while in_time; do
    for leader in "$@"; do
      curl --silent --max-time 2 "${admin[leader]}/metrics" | grep -q '^holdfast_raft_is_leader 1$' && return 0
    done
    sleep 0.1
  done
  timed_out 'no node leads'
}

# There is no systemd to run podman's health timers; podman reports that at every start and stop.
quietly() { podman "$@" 2> >(grep -v 'systemd connection' >&2) > /dev/null; }

smoke() { SMOKE_STATE=$work/$1 bash "$root/deploy/smoke.sh" "${@:2}"; }

keep=0 base=9000 only_down=0 started=0
while (($# > 0)); do
  case $1 in
    --base-port)
      [[ ${2-} =~ ^[0-9]{4,5}$ ]] || fail '--base-port needs a port' 2
      base=$2
      shift 2
      ;;
    --keep) keep=1 && shift ;;
    --down) only_down=1 && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option '$1', see --help" 2 ;;
  esac
done

check_tools
work=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-podman.XXXXXX")
export HOLDFAST_SECRETS=$work/secrets PROMETHEUS_PORT=$((base + 90))
export N1_DATA_PORT=$base N1_ADMIN_PORT=$((base + 1)) N2_DATA_PORT=$((base + 10)) N2_ADMIN_PORT=$((base + 11))
export N3_DATA_PORT=$((base + 20)) N3_ADMIN_PORT=$((base + 21))
data=("http://127.0.0.1:$N1_DATA_PORT" "http://127.0.0.1:$N2_DATA_PORT" "http://127.0.0.1:$N3_DATA_PORT")
admin=("http://127.0.0.1:$N1_ADMIN_PORT" "http://127.0.0.1:$N2_ADMIN_PORT" "http://127.0.0.1:$N3_ADMIN_PORT")
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
podman_settings
if ((only_down)); then
  started=1
  exit 0
fi
[[ -z $(left_over) ]] || fail 'something of an earlier run is there: deploy/up-with-podman.sh --down'

step 'base image' 600 'the network to Debian: debootstrap --variant=minbase bookworm /tmp/try'
bounded bash "$root/deploy/podman/base-image.sh"
step 'image of the service' 600 'the network to the npm registry, and the output of: podman build -f deploy/Dockerfile .'
build_image
podman image inspect holdfast:local --format '   holdfast:local  user {{.Config.User}}  {{.Size}} bytes'
step 'image of Prometheus' 120 'podman build, and whether prometheus is installed'
services=(n1 n2 n3)
if prometheus_image; then services+=(prometheus); else echo '   left out: no image and no prometheus here'; fi
step 'set-up: keys, certificates, configurations' 60 'podman logs of the init container'
started=1
compose run --rm -T --no-deps init > "$work/init.log" 2>&1 || { cat "$work/init.log" >&2; fail 'the set-up failed'; }
grep -q 'to no node: anyone with it' "$work/init.log" || { cat "$work/init.log" >&2; fail 'the set-up made nothing'; }
(cd "$HOLDFAST_SECRETS" && find ca n1 -type f -printf '   %M %U %p\n' | sort -k3)
step "start ${services[*]}" "$READY_S_MAX" "podman logs ${PROJECT}_n1_1"
compose up -d --no-build "${services[@]}" > "$work/up.log" 2>&1 || { cat "$work/up.log" >&2; fail 'compose up failed'; }
wait_ready "${admin[@]}" "${data[@]}"
took 'all three nodes ready'
for node in n1 n2 n3; do
  quietly healthcheck run "${PROJECT}_${node}_1" || fail "the health check of $node failed"
done
step 'owner token through the command line in the container' 60 "podman logs ${PROJECT}_n1_1"
HOLDFAST_OWNER_TOKEN=$(bounded podman exec "${PROJECT}_n1_1" holdfast admin-token create \
  --name podman --role owner --data /var/lib/holdfast 2> "$work/token.log") || { cat "$work/token.log" >&2; exit 1; }
export HOLDFAST_OWNER_TOKEN
(umask 077 && echo "$HOLDFAST_OWNER_TOKEN" > "$work/owner-token")
bounded podman exec --env HOLDFAST_ADMIN_TOKEN="$HOLDFAST_OWNER_TOKEN" "${PROJECT}_n1_1" holdfast cluster status
step 'upload through n1, download through n2, n3 and n1' 300 "podman logs of ${PROJECT}_n1_1, and the disk: df"
smoke first "${admin[0]}" "${data[0]}" "${data[1]}" "${data[2]}" "${data[0]}"
if [[ " ${services[*]} " == *' prometheus '* ]]; then
  step 'Prometheus' "$READY_S_MAX" "podman logs ${PROJECT}_prometheus_1, http://127.0.0.1:$PROMETHEUS_PORT/targets"
  wait_scraped 3
fi
find_leader 0 1 2
dead=$leader killed=n$((leader + 1)) a=$(((leader + 1) % 3)) b=$(((leader + 2) % 3))
step "kill the leader $killed (SIGKILL): download through the others, and upload another file" 300 \
  "podman logs of the two others, curl ${admin[a]}/readyz"
quietly kill --signal KILL "${PROJECT}_${killed}_1"
find_leader "$a" "$b"
took "n$((leader + 1)) leads"
wait_ready "${admin[a]}" "${admin[b]}"
smoke first "${admin[a]}" "${data[a]}" "${data[a]}" "${data[b]}"
smoke second "${admin[a]}" "${data[a]}" "${data[b]}"
if [[ " ${services[*]} " == *' prometheus '* ]]; then
  step 'Prometheus sees the loss' "$READY_S_MAX" "http://127.0.0.1:$PROMETHEUS_PORT/targets"
  wait_scraped 2
fi
step "start $killed again, download both files through it" "$READY_S_MAX" "podman logs ${PROJECT}_${killed}_1"
quietly start "${PROJECT}_${killed}_1"
wait_ready "${admin[dead]}" "${data[dead]}"
took "$killed ready"
smoke first "${admin[dead]}" "${data[dead]}" "${data[dead]}"
smoke second "${admin[dead]}" "${data[dead]}" "${data[dead]}"
step 'set-up again: nothing changes' 60 'podman logs of the init container'
compose run --rm -T --no-deps init > "$work/init.log" 2>&1 || { cat "$work/init.log" >&2; fail 'the set-up failed'; }
grep 'nothing was changed' "$work/init.log"
step 'stop n2 (SIGTERM)' 60 "podman logs ${PROJECT}_n2_1"
quietly stop --time 35 "${PROJECT}_n2_1"
code=$(podman inspect "${PROJECT}_n2_1" --format '{{.State.ExitCode}}')
[[ $code == 0 ]] || fail "n2 ended with $code instead of 0"
took 'n2 stopped cleanly, exit code 0,'
((keep == 0)) || { quietly start "${PROJECT}_n2_1" && wait_ready "${admin[1]}"; }
echo "The container cluster works: data ${data[*]}, admin ${admin[*]}"
