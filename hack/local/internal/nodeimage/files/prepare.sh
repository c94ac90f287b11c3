# Runs as root inside the node's root file system, and leaves two files for the assembling: /tmp/spec.json, and /tmp/proxy.tar with what
# kube-proxy calls.
set -eu
ctr oci spec >/tmp/spec.json
tools=$(ls /usr/sbin/ip*tables-nft /usr/sbin/ip*tables-nft-save /usr/sbin/ip*tables-nft-restore /usr/sbin/nft /usr/sbin/conntrack)
for file in $tools /usr/lib/*/xtables/*.so; do
  echo "$file"
  ldd "$file" | grep -o '/[^ ]*'
done | sort -u >/tmp/proxy.files
tar --create --dereference --hard-dereference --file /tmp/proxy.tar --transform 's|tables-nft|tables|' --files-from /tmp/proxy.files 2>/dev/null
