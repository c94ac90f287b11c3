// Draws a dashboard of one run beside the run's report, for a look at both: no Grafana is needed, and it draws plainer than one. CONTRIBUTING.md has the
// command. A panel without an answer says so.
import {readFileSync, writeFileSync} from 'node:fs';

const [prometheus, namespace, experiment, from, to, report, dashboard, output] = process.argv.slice(2);
if (!output) {
  console.error('draw.mjs PROMETHEUS NAMESPACE EXPERIMENT FROM TO REPORT.html DASHBOARD.json OUTPUT.html');
  process.exit(2);
}
const [start, end] = [from, to].map((t) => Date.parse(t) / 1000);
const step = Math.max(1, Math.round((end - start) / 300));
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
// What Grafana puts in: four scrapes of the PodMonitor for the interval of a rate.
const filled = (text) => text.replaceAll('$__rate_interval', '20s').replace(/\$\{?(namespace|experiment)\}?/g, (_, name) => ({namespace, experiment})[name]);

async function ask(query, instant) {
  const parameters = instant ? {query, time: end} : {query, start, end, step};
  const answer = await (await fetch(`${prometheus}/api/v1/query${instant ? '' : '_range'}?${new URLSearchParams(parameters)}`)).json();
  if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`);
  return answer.data.result.map((s) => ({...s, points: (s.values ?? [s.value ?? []]).map(([t, v]) => [t, Number(v)]).filter(([, v]) => Number.isFinite(v))}));
}

const units = {reqps: 'req/s', ops: 'ops/s', wps: 'wr/s', pps: 'p/s'};
function text(value, unit) {
  const short = (v, names, by) => {
    let i = 0;
    for (; Math.abs(v) >= by && i < names.length - 1; i++) v /= by;
    return `${Number(v.toPrecision(3))} ${names[i]}`.trim();
  };
  switch (unit) {
    case 's': return Math.abs(value) < 1 ? short(value * 1e6, ['µs', 'ms'], 1000) : `${Number(value.toPrecision(3))} s`;
    case 'bytes': return short(value, ['B', 'KiB', 'MiB', 'GiB'], 1024);
    case 'Bps': return short(value, ['B/s', 'kB/s', 'MB/s'], 1000);
    case 'percentunit': return `${Number((value * 100).toPrecision(3))}%`;
  }
  return `${Number(value.toPrecision(3))} ${units[unit] ?? ''}`.trim();
}

const colours = ['#3b7dd8', '#e0752d', '#3f9b4f', '#8e5bc0', '#c8a415', '#c43c4e', '#2a9d9d', '#888'];
const [width, left, axis] = [600, 100, 20];
const x = (t) => left + ((t - start) / (end - start)) * (width - left - 10);
const marks = (events, height) => events.map(([t, name]) => `<line x1="${x(t)}" x2="${x(t)}" y1="0" y2="${height}" class="mark"><title>${escaped(name)}</title></line><text x="${x(t) + 2}" y="10" class="mark">${escaped(name)}</text>`).join('');
const svg = (height, inside) => `<svg viewBox="0 0 ${width} ${height + axis}">${inside}${[0, 0.25, 0.5, 0.75, 1].map((part) => `<text x="${x(start + part * (end - start))}" y="${height + 14}" text-anchor="middle">${Math.round(part * (end - start))} s</text>`).join('')}</svg>`;
const legend = (series) => `<p>${series.map((s, i) => `<b style="color:${colours[i % colours.length]}">■</b> ${escaped(s.name)}`).join(' &nbsp; ')}</p>`;

function lines(series, defaults, events, height) {
  const log = defaults.custom?.scaleDistribution?.type === 'log';
  if (log) series = series.map((s) => ({...s, points: s.points.filter(([, v]) => v > 0)}));
  const values = series.flatMap((s) => s.points.map(([, v]) => v));
  const [low, high] = [Math.min(...(log ? [] : [0]), ...values), Math.max(...values) || 1];
  const scaled = (v) => (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
  const y = (v) => height - scaled(v) * (height - 15);
  const drawn = series.map((s, i) => `<polyline fill="none" stroke="${colours[i % colours.length]}" points="${s.points.map(([t, v]) => `${x(t)},${y(v)}`).join(' ')}"/>`);
  const ticks = [low, log ? Math.sqrt(low * high) : (low + high) / 2, high].map((v) => `<text x="${left - 4}" y="${y(v) + 3}" text-anchor="end">${text(v, defaults.unit)}</text><line x1="${left}" x2="${width}" y1="${y(v)}" y2="${y(v)}" class="grid"/>`);
  return svg(height, ticks.join('') + drawn.join('') + marks(events, height)) + legend(series);
}

function states(series, events) {
  const height = 22 * series.length;
  const drawn = series.map((s, i) => s.points.map(([t, v]) => `<rect x="${x(t)}" width="${x(t + step) - x(t)}" y="${22 * i + 3}" height="16" fill="${v ? colours[v % colours.length] : '#ddd'}"/>`).join('')
    + `<text x="${left - 4}" y="${22 * i + 15}" text-anchor="end">${escaped(s.name)}</text>`);
  return svg(height, drawn.join('') + marks(events, height));
}

// Buckets of native histograms, the fuller the darker.
function heatmap(series, unit, events, height) {
  const cells = series.flatMap((s) => (s.histograms ?? []).flatMap(([t, h]) => (h.buckets ?? []).map(([, low, high, n]) => ({t, low: Number(low), high: Number(high), n: Number(n)}))));
  if (!cells.length) return '';
  const [low, high, most] = [Math.min(...cells.map((c) => c.low)), Math.max(...cells.map((c) => c.high)), Math.max(...cells.map((c) => c.n))];
  const y = (v) => height - (Math.log(v / low) / Math.log(high / low)) * (height - 15);
  const drawn = cells.map((c) => `<rect x="${x(c.t)}" width="${x(c.t + step) - x(c.t)}" y="${y(c.high)}" height="${y(c.low) - y(c.high)}" fill="#e0752d" opacity="${c.n / most}"/>`);
  return svg(height, drawn.join('') + [low, high].map((v) => `<text x="${left - 4}" y="${y(v) + 3}" text-anchor="end">${text(v, unit)}</text>`).join('') + marks(events, height));
}

async function draw(panel, events) {
  if (panel.type === 'row') return `<h2>${escaped(panel.title)}</h2>`;
  const {h, w} = panel.gridPos;
  const series = (await Promise.all((panel.targets ?? []).map(async (q) => (await ask(filled(q.expr), q.instant)).map((s) => ({...s, name: filled(q.legendFormat ?? '').replace(/\{\{(\w+)\}\}/g, (_, label) => s.metric[label] ?? '')}))))).flat();
  const told = series.filter((s) => s.points.length || s.histograms?.length);
  const unit = panel.fieldConfig?.defaults.unit;
  const kinds = {
    text: () => `<pre>${escaped(filled(panel.options.content))}</pre>`,
    stat: () => told.map((s) => `<strong>${escaped(panel.options.textMode === 'name' ? s.name : text(s.points.at(-1)[1], unit))}</strong>`).join(' '),
    table: () => `<p>${told.length} series</p>`,
    timeseries: () => lines(told, panel.fieldConfig.defaults, events, 26 * h - 60), 'state-timeline': () => states(told, events), heatmap: () => heatmap(told, unit, events, 26 * h - 60),
  };
  const inside = (panel.type === 'text' || told.length) && kinds[panel.type]();
  return `<section style="grid-column:span ${w}"><h3 title="${escaped(panel.description ?? '')}">${escaped(panel.title)}</h3>${inside || '<em>no answer</em>'}</section>`;
}

const {title, panels, annotations} = JSON.parse(readFileSync(dashboard, 'utf8'));
const events = (await Promise.all((annotations?.list ?? []).map(async (a) => (await ask(filled(a.target.expr))).map((s) => [s.points.at(-1)[1] / 1000, s.metric.fault ?? s.metric.stage ?? a.name])))).flat();
const drawn = [];
for (const p of panels) drawn.push(await draw(p, events));
writeFileSync(output, `<!doctype html><meta charset="utf-8"><title>${escaped(title)}: ${escaped(experiment)}</title>
<style>body{display:grid;grid-template-columns:1fr 1fr;gap:1em;margin:1em;font:13px sans-serif}main{display:grid;grid-template-columns:repeat(24,1fr);gap:6px;align-content:start}
h1,h2{grid-column:span 24;margin:.4em 0}h3{margin:0 0 4px;font-size:13px}section{border:1px solid #ccc;padding:6px;overflow:hidden}strong{font-size:22px}em{color:#999}
svg{width:100%}svg text{font-size:10px}p{margin:2px 0}.grid{stroke:#eee}line.mark{stroke:#c43c4e;stroke-dasharray:3}text.mark{fill:#c43c4e}iframe{width:100%;height:4000px;border:0}</style>
<main><h1>${escaped(title)}</h1>${drawn.join('\n')}</main><iframe srcdoc="${escaped(readFileSync(report, 'utf8'))}"></iframe>
`);
console.log(`${output}: ${drawn.filter((d) => d.includes('<em>no answer')).length} of ${panels.filter((p) => p.type !== 'row').length} panels have no answer`);
