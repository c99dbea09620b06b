#!/bin/sh
# After an installation or upgrade. dpkg passes "configure" and the former version, rpm the number of installed versions.
set -e
getent group location-hub > /dev/null || groupadd --system location-hub
getent passwd location-hub > /dev/null || useradd --system --gid location-hub --home-dir /var/lib/location-hub \
  --no-create-home --shell /usr/sbin/nologin location-hub
install -d -o location-hub -g location-hub -m 0750 /var/lib/location-hub
chown root:location-hub /etc/location-hub /etc/location-hub/hub_config.yaml
chmod 0750 /etc/location-hub
chmod 0640 /etc/location-hub/hub_config.yaml
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
case "$1:$2" in
  configure: | 1:*)
    # Debian starts services at their installation, others leave that to their administrators.
    [ "$1" != configure ] || systemctl enable --now location-hub.service
    ;;
  *) systemctl try-restart location-hub.service ;;
esac
