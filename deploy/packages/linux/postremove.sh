#!/bin/sh
# After a removal. Configuration and data stay until the package is purged.
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
[ "$1" = purge ] || exit 0
rm -rf /var/lib/location-hub /etc/location-hub
! getent passwd location-hub > /dev/null || userdel location-hub
! getent group location-hub > /dev/null || groupdel location-hub
