# shellcheck shell=sh
# Waits of the proof of packages, for sh: each has a bound, and says what did not come. Sourced.

give_up() { # WHAT FILE
  echo "prove package: $1; the end of $2:" >&2
  tail -n 20 "$2" >&2
  exit 1
}

is_running() { # PID: not a zombie either
  kill -0 "$1" 2>/dev/null && ! grep -qs ') Z ' "/proc/$1/stat"
}

await() { # PID FILE TEXT [SECONDS]: until the file has the text, which the process writes
  tries=$((${4:-300} * 10))
  until grep -q -e "$3" "$2" 2>/dev/null; do
    is_running "$1" || grep -q -e "$3" "$2" || give_up "the process ended before \"$3\"" "$2"
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || give_up "\"$3\" did not come within ${4:-300} s" "$2"
    sleep 0.1
  done
}

stop() { # PID FILE: ends a child by SIGTERM, whose exit code must be 0
  kill "$1"
  tries=600
  while is_running "$1"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || give_up "the process did not end within 60 s of SIGTERM" "$2"
    sleep 0.1
  done
  code=0
  wait "$1" || code=$?
  [ "$code" -eq 0 ] || give_up "SIGTERM ended the process with exit code $code" "$2"
}
