
// replabSummary is wire.K6Summary. registered is null where nobody counted.
function replabSummary(data, stages, registered) {
  const value = (metric, key) => (data.metrics[metric] ? data.metrics[metric].values[key] || 0 : 0);
  const summary = {
    v: 1,
    requests: value('http_reqs', 'count'),
    failed: value('http_req_failed', 'passes'),
    registered: registered ? registered.count : 0,
    registeredKnown: registered !== null,
    dropped: value('dropped_iterations', 'count'),
  };
  if (stages.length > 0) {
    summary.stages = stages.map((s) => ({
      name: s.name,
      requests: value(`http_reqs{scenario:${s.name}}`, 'count'),
      failed: value(`http_req_failed{scenario:${s.name}}`, 'passes'),
      iterations: value(`iteration_duration{scenario:${s.name}}`, 'count'),
      iterationMeanMicroseconds: Math.round(value(`iteration_duration{scenario:${s.name}}`, 'avg') * 1000),
      dropped: value(`dropped_iterations{scenario:${s.name}}`, 'count'),
    }));
  }
  return summary;
}

// replabOutputs writes the summary to the pod's termination message, which holds 4096 bytes, and a text for people.
function replabOutputs(summary) {
  const lines = [`replab: ${summary.requests} requests, ${summary.failed} failed, ${summary.dropped} iterations dropped`];
  for (const s of summary.stages || []) {
    const mean = (s.iterationMeanMicroseconds / 1000).toFixed(2);
    lines.push(`  ${s.name}: ${s.iterations} iterations, mean ${mean} ms, ${s.dropped} dropped`);
  }
  return { [__ENV.REPLAB_SUMMARY || '/dev/termination-log']: JSON.stringify(summary), stdout: `${lines.join('\n')}\n` };
}
