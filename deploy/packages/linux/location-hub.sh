#!/bin/sh
# The command-line tools of the hub, and the hub itself, with the configuration of the service.
export HUB_CONFIG_PATH="${HUB_CONFIG_PATH:-/etc/location-hub}"
exec /usr/lib/location-hub/bin/node /usr/lib/location-hub/deploy/packages/location-hub.mjs "$@"
