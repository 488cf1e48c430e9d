#!/bin/sh
# Restarts the processes of pv-onboarding@.service one after the other: the next one only once the last was ready three times in a row, so
# that it stays so and its proxy has noticed. Run it as root, on a machine with two processes that serve the API, behind a proxy that passes
# a request to the other while one stops.
#
#   rolling-restart.sh api-1=3000 api-2=3001 worker=3002     each instance with its PORT
set -eu
[ $# -gt 0 ] || { echo "usage: $0 INSTANCE=PORT..." >&2; exit 64; }
for each in "$@"; do
  case ${each#*=} in '' | "$each" | *[!0-9]*) echo "$each: must be INSTANCE=PORT" >&2; exit 64 ;; esac
done

HOST=${HOST:-127.0.0.1}
READY_WITHIN=${READY_WITHIN:-120}
# The file that names a process in this folder lets nginx (ops/nginx) send it nothing. It stays if the process does not become ready.
STOPPING=${STOPPING:-/run/pv-onboarding}
umask 022
mkdir -p "$STOPPING"
for each in "$@"; do
  instance=${each%%=*} port=${each#*=} waited=0
  : > "$STOPPING/$instance.stopping"
  # Returns once the process has served what was in flight and has ended, and the new one has begun.
  systemctl restart "pv-onboarding@$instance"
  ready=0
  while :; do
    if curl --fail --silent --max-time 5 --output /dev/null "http://$HOST:$port/health/ready"; then ready=$((ready + 1)); else ready=0; fi
    [ "$ready" -lt 3 ] || break
    waited=$((waited + 1))
    if [ "$waited" -ge "$READY_WITHIN" ]; then
      echo "$instance is not ready after $waited s; the others were not restarted" >&2
      exit 1
    fi
    sleep 1
  done
  rm -f "$STOPPING/$instance.stopping"
  echo "$instance is ready"
done
