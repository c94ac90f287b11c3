#!/usr/bin/python3
"""Starts Patroni as the environment of a pod of the Zalando operator says.

Called with "roles" and a connection string it makes the roles instead that the operator expects: Patroni calls it so, once, on the node
that makes the data."""

import json
import os
import subprocess
import sys
import tempfile

# What the operator leaves out has Patroni's own values, but for these.
DEFAULTS = {
    "use_pg_rewind": True,
    "use_slots": True,
}
ACCESS = [
    "local all all trust",
    "host replication {standby} all scram-sha-256",
    "host all all all scram-sha-256",
]
ROLES = ["CREATE ROLE admin CREATEDB CREATEROLE", "CREATE ROLE cron_admin"]


def needed(env, name):
    if not env.get(name):
        sys.exit(f"the environment has no {name}: this image is for pods of the Zalando operator")
    return env[name]


def document(env, name, otherwise):
    try:
        found = json.loads(env.get(name) or otherwise)
    except ValueError as e:
        sys.exit(f"{name} of the environment is no JSON: {e}")
    if not isinstance(found, dict):
        sys.exit(f"{name} of the environment is not an object")
    return found


def merged(under, over):
    """over wins, whole where it is not an object."""
    if not isinstance(under, dict) or not isinstance(over, dict):
        return over
    return {**under, **{k: merged(under[k], v) if k in under else v for k, v in over.items()}}


def address(ip, port):
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def configuration(env, folder):
    """What Patroni runs with; files are in folder."""
    name, ip = needed(env, "HOSTNAME"), needed(env, "POD_IP")
    superuser, standby = ({"username": needed(env, "PGUSER_" + role), "password": needed(env, "PGPASSWORD_" + role)} for role in ("SUPERUSER", "STANDBY"))
    base = {
        "scope": needed(env, "SCOPE"),
        "name": name,
        "restapi": {"listen": "*:8008", "connect_address": address(ip, 8008)},
        "kubernetes": {
            "namespace": needed(env, "POD_NAMESPACE"),
            "labels": document(env, "KUBERNETES_LABELS", '{"application": "spilo"}'),
            "scope_label": env.get("KUBERNETES_SCOPE_LABEL") or "cluster-name",
            "role_label": env.get("KUBERNETES_ROLE_LABEL") or "spilo-role",
            "leader_label_value": "master",  # which the operator waits for
            "standby_leader_label_value": "master",
            "use_endpoints": (env.get("KUBERNETES_USE_CONFIGMAPS") or "").lower() not in ("true", "1", "yes", "on"),
            "pod_ip": ip,
            "ports": [{"name": "postgresql", "port": 5432}],  # as in the operator's Service
        },
        "bootstrap": {
            "dcs": {"postgresql": DEFAULTS},
            "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "data-checksums"],
            "post_bootstrap": sys.argv[0] + " roles",
        },
        "postgresql": {
            "listen": "*:5432",
            "connect_address": address(ip, 5432),
            "data_dir": os.path.join(needed(env, "PGROOT"), "data"),
            "bin_dir": f"/usr/lib/postgresql/{env.get('PGVERSION') or '17'}/bin",
            "pgpass": os.path.join(folder, "pgpass"),
            "pg_hba": [line.format(standby=standby["username"]) for line in ACCESS],
            "authentication": {"superuser": superuser, "replication": standby},
            "basebackup": {"checkpoint": "fast"},
            "use_unix_socket": True,
            "parameters": {
                "unix_socket_directories": folder,
                "replab.node": name,
                "ssl": "on",  # the operator connects in no other way
                "ssl_cert_file": os.path.join(folder, "server.crt"),
                "ssl_key_file": os.path.join(folder, "server.key"),
            },
        },
        "watchdog": {"mode": "off"},
    }
    return merged(base, document(env, "SPILO_CONFIGURATION", "{}"))


def certify(folder, name):
    """Makes a key and a certificate that nobody has signed."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650",
         "-subj", "/CN=" + name, "-keyout", os.path.join(folder, "server.key"), "-out", os.path.join(folder, "server.crt")],
        check=True, stderr=subprocess.DEVNULL)


def roles(connection):
    statements = [part for statement in ROLES for part in ("-c", statement)]
    os.execvp("psql", ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", connection] + statements)


def main():
    os.umask(0o077)
    folder = tempfile.mkdtemp(prefix="spilo-")  # goes with the container
    config = configuration(os.environ, folder)
    data = config["postgresql"]["data_dir"]
    os.makedirs(os.path.dirname(data), exist_ok=True)
    if os.path.isdir(data):
        os.chmod(data, 0o700)  # a volume that is mounted anew is open to its group, which the server refuses
    certify(folder, config["name"])
    path = os.path.join(folder, "patroni.yml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file, indent=2)  # is YAML too
    os.environ.update(HOME=folder, PYTHONDONTWRITEBYTECODE="1", PATH=config["postgresql"]["bin_dir"] + ":" + os.environ["PATH"])
    os.execvp("patroni", ["patroni", path])


if __name__ == "__main__":
    if sys.argv[1:2] == ["roles"] and len(sys.argv) == 3:
        roles(sys.argv[2])
    elif len(sys.argv) == 1:
        main()
    else:
        sys.exit("usage: replab-spilo [roles CONNECTION]")
