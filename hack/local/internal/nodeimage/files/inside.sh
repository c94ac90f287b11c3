# Runs the script of the second argument inside the root file system of the first, in namespaces that end with it.
set -eu
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
exec chroot "$1" /bin/bash -c "$2"
