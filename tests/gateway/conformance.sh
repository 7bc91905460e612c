#!/usr/bin/env bash
# Usage: conformance.sh SALLYPORT EVERYTHING, in a folder with the packages installed. The
# conformance suite has to say the same of a server with the gateway in front of it and
# without: over HTTP in both eras, and through standard streams behind an adapter.
set -euo pipefail
sallyport=$1 everything=$2
node=$PWD/node_modules/node/bin/node
logs=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$logs"' EXIT

listens() { # port
	for _ in $(seq 100); do
		if (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
		sleep 0.1
	done
	echo "nothing listens on port $1"
	exit 1
}
suite() { # port, path and what to run; prints the line of each scenario
	timeout 120 "$node" node_modules/@modelcontextprotocol/conformance/dist/index.js server --url "http://127.0.0.1:$1" "${@:2}" 2>&1 | grep -E '^(✓|✗|Total)' || true
}
compare() { # name, port without, port with, and what to run
	suite "$2/mcp" "${@:4}" >"$logs/without"
	suite "$3/mcp" "${@:4}" >"$logs/with"
	grep Total "$logs/without" >/dev/null || { echo "$1: the suite did not run"; exit 1; }
	if ! diff "$logs/without" "$logs/with"; then
		echo "$1: not the same with the gateway (>) as without (<)"
		exit 1
	fi
	echo "ok  $1: with and without the gateway $(grep Total "$logs/with")"
}

"$everything" -http 127.0.0.1:18701 -stateless=false >"$logs/1" 2>&1 &
"$everything" -http 127.0.0.1:18702 -stateless >"$logs/2" 2>&1 &
"$sallyport" gateway --listen 127.0.0.1:18711 --upstream http://127.0.0.1:18701/mcp >"$logs/3" 2>&1 &
"$sallyport" gateway --listen 127.0.0.1:18712 --upstream http://127.0.0.1:18702/mcp >"$logs/4" 2>&1 &
"$sallyport" gateway --listen 127.0.0.1:18713 -- "$everything" >"$logs/5" 2>&1 &
for port in 18701 18702 18711 18712 18713; do listens $port; done
compare "HTTP, 2025-11-25" 18701 18711 --suite active --spec-version 2025-11-25
compare "HTTP, 2026-07-28" 18702 18712 --suite all --spec-version 2026-07-28
compare "HTTP in front of a command, 2025-11-25" 18701 18713 --suite active --spec-version 2025-11-25

adapter() { # port, command
	node_modules/.bin/supergateway --stdio "$2" --outputTransport streamableHttp --stateful --port "$1" --logLevel none >"$logs/$1" 2>&1 &
}
adapter 18721 "$everything"
adapter 18722 "$sallyport gateway -- $everything"
listens 18721
listens 18722
compare "standard streams behind an adapter, 2025-11-25" 18721 18722 --suite active --spec-version 2025-11-25
