/** Sourced by the others: `cli` speaks to this pod's server. The password travels in the environment, never in arguments. */
const CLIENT = `
if [ -f /auth/password ]; then
  REDISCLI_AUTH="$(cat /auth/password)"
  export REDISCLI_AUTH
fi
flags=""
if [ -n "\${VALKEY_USER:-}" ]; then flags="--user $VALKEY_USER"; fi
if [ -n "\${VALKEY_TLS:-}" ]; then flags="$flags --tls --cacert /tls/ca.crt --cert /tls/tls.crt --key /tls/tls.key"; fi
at() { host="$1"; shift; valkey-cli -h "$host" -p 6379 $flags "$@" 2>/dev/null; }
cli() { at "$POD_IP" "$@"; }
`;

/** Writes the pod's own part of the configuration and becomes the server. */
const START = `
set -eu
umask 077
{
  cat /config/valkey.conf
  echo "bind $POD_IP"
  echo "bind-source-addr $POD_IP"
  echo "cluster-announce-ip $POD_IP"
  echo "cluster-announce-human-nodename $POD_NAME"
  if [ -f /auth/password ]; then
    printf 'requirepass "%s"\\n' "$(sed 's/[\\\\"]/\\\\&/g' /auth/password)"
    printf 'masterauth "%s"\\n' "$(sed 's/[\\\\"]/\\\\&/g' /auth/password)"
    if [ -n "\${VALKEY_USER:-}" ]; then echo "masteruser $VALKEY_USER"; fi
  fi
} > /runtime/valkey.conf

# A master that comes back without its newest writes must not hand its loss to its replicas. They are elected while
# it holds back, and it then returns as a replica.
if [ "\${HOLD_BACK_SECONDS:-0}" -gt 0 ] && grep -q myself,master /data/nodes.conf 2>/dev/null; then
  echo "This was a master and its data may be old: it starts in $HOLD_BACK_SECONDS s, after the election of a replica."
  trap 'exit 143' TERM
  sleep "$HOLD_BACK_SECONDS" & wait $!
  trap - TERM
fi
exec valkey-server /runtime/valkey.conf
`;

/** Ready is a server that answers and has loaded its data; whether the cluster is whole is for the status to say. */
const READY = `
. /config/client.sh
answer="$(cli ping)"
case "$answer" in
  PONG | NOAUTH* | WRONGPASS* | NOPERM*) exit 0 ;;
esac
echo "\${answer:-no answer}"
exit 1
`;

/**
 * When a drain, and not one of our operations, ends the pod of a master, its most advanced replica is asked to take
 * over first. Nothing is done while slots move, because a failover then may lose writes.
 */
const STOP = `
. /config/client.sh
set -- $(cli role)
[ "\${1:-}" = master ] && [ $# -ge 5 ] || exit 0
if cli cluster nodes | grep myself | grep -q '\\['; then exit 0; fi
if cli cluster getslotmigrations | grep -A1 -x state | grep -qvxE 'state|--|success|failed|cancelled|canceled'; then exit 0; fi
shift 2
best="" best_offset=-1
while [ $# -ge 3 ]; do
  if [ "$3" -gt "$best_offset" ]; then best="$1" best_offset="$3"; fi
  shift 3
done
[ "$(at "$best" cluster failover)" = OK ] || exit 0
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  set -- $(cli role)
  [ "\${1:-}" = master ] && [ $# -ge 5 ] || exit 0
  sleep 0.25
done
`;

/** The scripts of a pod by the names under which its ConfigMap carries them. */
export const SERVER_SCRIPTS = {
  'client.sh': CLIENT.trimStart(),
  'start.sh': START.trimStart(),
  'ready.sh': READY.trimStart(),
  'stop.sh': STOP.trimStart(),
} as const;
