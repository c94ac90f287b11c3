# Runs as root inside the node's root file system, in a process namespace of its own, and imports the archive of its input into the
# images of the node's containerd. They are unpacked when a node first starts them.
set -eu
printf 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n' >/tmp/import.toml
containerd --config /tmp/import.toml --address /tmp/containerd.sock --state /tmp/containerd >/tmp/containerd.log 2>&1 &
for _ in $(seq 300); do ctr --address /tmp/containerd.sock version >/dev/null 2>&1 && break; sleep 0.1; done
ctr --address /tmp/containerd.sock --namespace k8s.io images import --no-unpack --all-platforms - || { cat /tmp/containerd.log; exit 1; }
for name in $(ctr --address /tmp/containerd.sock --namespace k8s.io images list --quiet); do
  ctr --address /tmp/containerd.sock --namespace k8s.io images label "$name" io.cri-containerd.pinned=pinned
done >/dev/null
kill %1
wait %1 || true
