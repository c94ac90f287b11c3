package api_test

// whole has every field of the API that this version supports, chosen so that each may go to its bounds.
const whole = `
metadata: {name: whole}
spec:
  topology:
    type: SemiSync
    engine: MySQL
    nodes: 10
    image: mysql
    failover: Automatic
    director: {periodMilliseconds: 50, failureThreshold: 2, leaseMilliseconds: 600000}
    durability: Full
    parameters: {max_connections: "100"}
    semiSync: {ackReplicas: 1, timeoutMilliseconds: 1000, waitPoint: AfterSync}
    storage: {medium: VolumeClaim, size: 100Gi, className: ""}
  routing: {proxy: HAProxy, image: haproxy, reads: Replicas, writes: Primary, check: {intervalMilliseconds: 250, fall: 2, rise: 1}}
  app: {image: app, replicas: 1, passwordHash: Bcrypt, passwordHashCost: 4}
  dataset: {users: 10, seed: 1, locale: en}
  load:
    runner: Job
    parallelism: 1
    image: k6
    mix: {register: 1, profile: 1, search: 1, login: 1, update: 1}
    timeoutMilliseconds: 1000
    stages:
    - {name: s0, durationSeconds: 3600, users: 10, spawnPerSecond: 100, discard: false, distance: Links}
    - {name: s1, durationSeconds: 3600, requestsPerSecond: 1, maxUsers: 10}
` + moreStages + `
  faults:
  - {name: crash, atSeconds: 1, target: Primary, action: Kill, holdSeconds: 5}
  - {name: node, atSeconds: 100, target: Node, node: 0, action: Kill}
  - {name: cut, atSeconds: 200, target: Primary, action: Partition, partitionFrom: Peers, holdSeconds: 5}
  - {name: gone, atSeconds: 300, target: Primary, action: DeletePod, gracePeriodSeconds: 0}
  probes:
    lag: {intervalMilliseconds: 20, payloadBytes: 100, sweepPayloadBytes: [100]}
    availability: {intervalMilliseconds: 20}
  goals: [{metric: requestsPerSecond, max: 0, min: 0, minPercentOfBaseline: 1, maxPercentOfBaseline: 100}]
  baseline: {name: other}
  keep: Always
  deadlineSeconds: 604800
  ttlSecondsAfterFinished: 600
  pods:
    all: &pods
      labels: {a: b}
      annotations: {a: b}
      nodeSelector: {a: b}
      tolerations: [{key: a}]
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
      priorityClassName: high
      imagePullSecrets: [{name: pull}]
    nodes: *pods
    instruments: *pods
`

// moreStages make the load so long that faults[].atSeconds reaches its bound.
const moreStages = `
    - {name: s2, durationSeconds: 3600, users: 10}
    - {name: s3, durationSeconds: 3600, users: 10}
    - {name: s4, durationSeconds: 3600, users: 10}
    - {name: s5, durationSeconds: 3600, users: 10}
    - {name: s6, durationSeconds: 3600, users: 10}
    - {name: s7, durationSeconds: 3600, users: 10}
    - {name: s8, durationSeconds: 3600, users: 10}
    - {name: s9, durationSeconds: 3600, users: 10}
    - {name: s10, durationSeconds: 3600, users: 10}
    - {name: s11, durationSeconds: 3600, users: 10}
    - {name: s12, durationSeconds: 3600, users: 10}
    - {name: s13, durationSeconds: 3600, users: 10}
    - {name: s14, durationSeconds: 3600, users: 10}
    - {name: s15, durationSeconds: 3600, users: 10}
`

// scripted has the fields that go with a script of one's own.
const scripted = `
spec:
  load:
    stages: [{name: steady, durationSeconds: 30, users: null}]
    script:
      configMapKeyRef: {name: scripts, key: load.js}
      env:
      - {name: SECRET, valueFrom: {secretKeyRef: {name: s, key: k}}}
      - {name: SETTING, valueFrom: {configMapKeyRef: {name: s, key: k}}}
      - {name: PLAIN, value: x}
`

// proxied has the fields that go with one proxy alone.
const proxied = `
spec:
  routing: {proxy: ProxySQL, proxySQL: {queryRetries: 0}}
`

// later has the fields that this version refuses as a whole; their bounds hold all the same.
const later = `
spec:
  topology:
    patroni: {provider: StatefulSet, synchronousMode: Quorum, synchronousNodeCount: 1, ttlSeconds: 30, loopWaitSeconds: 10, retryTimeoutSeconds: 10, maximumLagOnFailoverBytes: 0, primaryStartTimeoutSeconds: 300, failsafeMode: false}
    galera: {syncWait: 0, suspectTimeoutMilliseconds: 0, sendWindowPackets: 0}
    dualPrimary: {logReplicaUpdates: true, semiSync: true}
    zones: [{name: eu, nodes: [0]}]
    links: [{from: eu, to: us, roundTripMilliseconds: 1}]
  app: {zone: eu}
`
