#!/bin/sh
# Makes the certificates between hubs and NATS: an authority, one certificate for the servers, and one for the hubs.
#
#   sh certificates.sh FOLDER HOST...
#
# The hosts are the names and IP addresses by which hubs and servers reach the servers. Run again, the script makes new
# certificates with the same authority. Certificates from elsewhere may replace these files.
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
  # Readable for the users of containers. Only the owner can enter the folder.
  chmod 644 "$1.pem" "$1-key.pem"
}

# An address is compared with the IP entries of a certificate only, a name with its DNS entries only.
names=
for host; do
  case $host in
    *:*) kind=IP ;;
    *[!0-9.]*) kind=DNS ;;
    *) kind=IP ;;
  esac
  names="$names${names:+, }$kind:$host"
done

# Servers are clients of each other.
issue server serverAuth,clientAuth "subjectAltName = $names"
issue client clientAuth
chmod 644 ca.pem
