#!/bin/sh
# Makes the certificates between hubs and NATS: an authority, one certificate for the servers, and one for the hubs.
#
#   sh certificates.sh FOLDER HOST...
#
# The hosts are the names by which hubs and servers reach the servers. Run again, it makes new certificates by the same
# authority. Where certificates come from elsewhere, they take the place of these files.
set -eu
[ $# -ge 2 ] || { echo 'Usage: sh certificates.sh FOLDER HOST...' >&2; exit 2; }
folder=$1
shift
umask 077
mkdir -p "$folder"
cd "$folder"

new_key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
[ -e ca-key.pem ] || openssl req -x509 $new_key -days 3650 -subj '/CN=cluster of hubs' -keyout ca-key.pem -out ca.pem

# Makes NAME.pem and NAME-key.pem: issue NAME USE [LINE]
issue() {
  openssl req -new $new_key -subj "/CN=$1" -keyout "$1-key.pem" -out "$1.csr"
  printf 'basicConstraints = critical, CA:FALSE\nextendedKeyUsage = %s\n%s\n' "$2" "${3-}" > extensions
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 825 -extfile extensions -out "$1.pem"
  rm "$1.csr" extensions
  # For users of containers: the folder is nobody else's.
  chmod 644 "$1.pem" "$1-key.pem"
}

# Servers are clients of each other.
issue server serverAuth,clientAuth "subjectAltName = DNS:$(echo "$@" | sed 's/ /, DNS:/g')"
issue client clientAuth
chmod 644 ca.pem
