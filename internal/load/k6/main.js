// replab's built-in load. It runs the stages of REPLAB_LOAD (wire.LoadConfig) against REPLAB_URL, on k6 1.8 and 2.
import exec from 'k6/execution';
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const load = JSON.parse(__ENV.REPLAB_LOAD || '{}');
if (!load.stages || !__ENV.REPLAB_URL) {
  throw new Error('REPLAB_LOAD and REPLAB_URL are needed: this script is started by replab');
}
const url = __ENV.REPLAB_URL.replace(/\/+$/, '');
const stages = Object.fromEntries(load.stages.map((s) => [s.name, s]));
const registered = new Counter('replab_registered');

http.setResponseCallback(http.expectedStatuses({ min: 200, max: 299 }));

export const options = {
  scenarios: Object.fromEntries(load.stages.map((s) => [s.name, scenario(s)])),
  // A metric of one stage appears in the summary only where a threshold names it. These hold always.
  thresholds: Object.fromEntries(load.stages.flatMap((s) => [
    [`iteration_duration{scenario:${s.name}}`, ['avg>=0']],
    [`dropped_iterations{scenario:${s.name}}`, ['count>=0']],
    [`http_reqs{scenario:${s.name}}`, ['count>=0']],
    [`http_req_failed{scenario:${s.name}}`, ['rate>=0']],
  ])),
  summaryTrendStats: ['avg', 'count'],
  // Where all share processors, k6 takes its own from the servers. It keeps the only tag that thresholds need, no bodies, and one
  // cookie jar a user in place of a new one an iteration.
  systemTags: ['scenario'],
  discardResponseBodies: true,
  noCookiesReset: true,
};

function scenario(s) {
  const common = { startTime: `${s.startSeconds}s`, duration: `${s.durationSeconds}s`, gracefulStop: '5s', env: { REPLAB_STAGE: s.name } };
  if (s.requestsPerSecond > 0) {
    return {
      executor: 'constant-arrival-rate', rate: s.requestsPerSecond, timeUnit: '1s',
      preAllocatedVUs: s.maxUsers, maxVUs: s.maxUsers, ...common,
    };
  }
  if (!s.users) { // at rest: one user waits, so that k6 does not end before the stage
    return {
      executor: 'per-vu-iterations', exec: 'rest', vus: 1, iterations: 1,
      startTime: common.startTime, maxDuration: common.duration, gracefulStop: '1s', env: common.env,
    };
  }
  if (s.spawnPerSecond > 0 && s.users > 1) { // the first user comes at once, the last after users-1 intervals
    const ramp = Math.round((s.users - 1) * 1000 / s.spawnPerSecond);
    return {
      executor: 'ramping-vus', startVUs: 1, startTime: common.startTime, gracefulStop: common.gracefulStop, env: common.env, gracefulRampDown: '0s',
      stages: [{ duration: `${ramp}ms`, target: s.users }, { duration: `${s.durationSeconds * 1000 - ramp}ms`, target: s.users }],
    };
  }
  return { executor: 'constant-vus', vus: s.users, ...common };
}

// One iteration is one request, without a pause: the mean duration times the throughput is then the number of users.
export default function () {
  const stage = stages[__ENV.REPLAB_STAGE]; // exec.scenario.name is a tenth of what k6 spends on a request
  if (!(stage.requestsPerSecond > 0)) {
    any(deck)(params[stage.name]);
    return;
  }
  const late = String(Math.round(lateMicroseconds(stage)));
  any(deck)({ headers: { ...params[stage.name].headers, 'Replab-Late-Microseconds': late } });
  noteEnd(stage);
}

export function rest() {
  sleep(stages[__ENV.REPLAB_STAGE].durationSeconds);
}

// Parameters of the requests of each stage. The type is that of bodies, and does no harm without one.
const params = Object.fromEntries(load.stages.map((s) => [s.name, { headers: { 'Replab-Stage': s.name, 'Content-Type': 'application/json' } }]));

const biography = 'Registered by the load of an experiment. '.repeat(3);
const longBiography = 'Changed by the load of an experiment. '.repeat(30);

const operations = {
  register(params) {
    // Names that no search asks for: what it finds, and costs, must not grow with the load.
    const body = JSON.stringify({
      first_name: letters(), second_name: letters(), birthdate: '1990-05-17', biography, city: 'Load', password: 'replab',
    });
    const answer = http.post(`${url}/user/register`, body, params);
    if (answer.status >= 200 && answer.status < 300) {
      registered.add(1);
      remember(answer.headers['Replab-User-Id']);
    }
  },
  profile(params) {
    // Own users show reads that are stale; the others spread over the whole table.
    const id = own.length > 0 && Math.random() < 0.25 ? registeredID() : seededID();
    http.get(`${url}/user/get/${id}`, params);
  },
  search(params) {
    http.get(any(searches), params);
  },
  login(params) {
    const body = JSON.stringify({ id: String(seededID()), password: 'replab' });
    http.post(`${url}/login`, body, params);
  },
  update(params) {
    const body = JSON.stringify({ biography: `${letters()} ${longBiography}`.slice(0, 1000) });
    http.put(`${url}/user/update/${seededID()}`, body, params);
  },
};

const prefixes = load.prefixes && load.prefixes.length > 0 ? load.prefixes : [['A', 'B']];
const searches = prefixes.map(([first, last]) => `${url}/user/search?first_name=${encodeURIComponent(first)}&last_name=${encodeURIComponent(last)}`);

// The users that this VU has registered last.
const own = [];

function remember(id) {
  if (!id) { // an app of the user's own without the header
    return;
  }
  own.push(id);
  if (own.length > 32) {
    own.shift();
  }
}

// registeredID is that of an own user, half the time of the last one: where replicas are behind, that is not there yet.
function registeredID() {
  return Math.random() < 0.5 ? own[own.length - 1] : any(own);
}

function seededID() {
  return 1 + Math.floor(Math.random() * Math.max(load.users, 1));
}

function any(list) {
  return list[Math.floor(Math.random() * list.length)];
}

// letters is a word that is never empty.
function letters() {
  return `${Math.random().toString(36).slice(2, 10)}x`;
}

// The operations, each as often as its weight in the mix.
const deck = Object.entries(load.mix || {}).flatMap(([name, weight]) => (operations[name] ? Array(weight).fill(operations[name]) : []));
if (deck.length === 0) {
  throw new Error('the mix of REPLAB_LOAD has no operation with a weight above 0');
}

// Open loop: how much later than intended is this request sent?
//
// k6 begins an iteration at each tick of its schedule, or drops it when no VU is free, and numbers only those it began.
// So a number tells the intended tick up to the drops before it, which k6 does not tell. This VU knows some of it: while
// it was free nothing was dropped. What lies behind the schedule is taken for drops as far as whole ticks can have been
// dropped since this VU last began, and for lateness beyond that. The result is never above the true lateness; it is
// exact where nothing can have been dropped. `slipped` is corrected as soon as an iteration begins in time.
const schedules = {};

function lateMicroseconds(stage) {
  const s = schedules[stage.name] ??= { slipped: 0, droppable: Infinity };
  s.tick = Math.floor(1e9 / stage.requestsPerSecond) / 1000; // of all pods together, in whole nanoseconds, as in k6
  s.own = s.tick * pods();
  s.intended = exec.scenario.iterationInTest * s.tick + s.slipped;
  const behind = elapsedMicroseconds(stage) - s.intended;
  if (behind < 0) { // too much was taken for drops
    s.slipped += behind;
    s.intended += behind;
    return 0;
  }
  const dropped = s.own * Math.min(Math.floor(behind / s.own), s.droppable);
  s.slipped += dropped;
  s.intended += dropped;
  return behind - dropped;
}

// noteEnd bounds what can be dropped before this VU begins again: the ticks until now, and one until k6 knows it is free.
function noteEnd(stage) {
  const s = schedules[stage.name];
  s.droppable = Math.ceil((elapsedMicroseconds(stage) - s.intended) / s.own) + 1;
}

// elapsedMicroseconds since the stage began. Progress is finer than Date, which counts milliseconds.
function elapsedMicroseconds(stage) {
  return exec.scenario.progress * stage.durationSeconds * 1e6;
}

// pods is how many share the load: the inverse of this one's execution segment.
let podCount = 0;

function pods() {
  if (podCount === 0) {
    const [from, to] = (exec.test.options.executionSegment || '0:1').split(':').map(fraction);
    podCount = 1 / (to - from);
  }
  return podCount;
}

function fraction(text) {
  const [numerator, denominator = 1] = text.split('/').map(Number);
  return numerator / denominator;
}

export function handleSummary(data) {
  const counter = data.metrics.replab_registered;
  return replabOutputs(replabSummary(data, load.stages, { count: counter ? counter.values.count : 0 }));
}
