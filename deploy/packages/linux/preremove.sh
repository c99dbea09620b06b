#!/bin/sh
# Before a removal or upgrade. A hub continues until its files are replaced, and is restarted then.
set -e
case "$1" in
  remove | 0) [ ! -d /run/systemd/system ] || systemctl disable --now location-hub.service ;;
esac
