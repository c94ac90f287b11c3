// Crosshair, zoom and hiding of lines in the pictures of a report. Without it the page can be read all the same.
(() => {
  "use strict";
  const source = document.getElementById("timeline");
  if (!source) return;
  document.documentElement.classList.add("scripted");
  const data = JSON.parse(source.textContent);
  const readout = document.getElementById("readout");
  const whole = document.getElementById("whole");
  const pictures = [...document.querySelectorAll("svg.timeline")].map((svg) => ({
    svg,
    key: svg.dataset.chart,
    inner: svg.querySelector("svg.data"),
    cross: svg.querySelector(".crosshair"),
    touch: svg.querySelector(".touch"),
    ...Object.fromEntries(["from", "to", "left", "width", "top", "height"].map((k) => [k, Number(svg.dataset[k])])),
  }));
  if (!pictures.length) return;
  const all = { from: pictures[0].from, to: pictures[0].to };
  let shown = { ...all };

  // digits are the first four; of a lower bound the others are cut off, so that no more is stated than is known.
  const digits = (v, bound) => {
    let short = Number(v.toPrecision(4));
    if (bound && short > v) short = Number((short - 10 ** (Math.floor(Math.log10(v)) - 3)).toPrecision(4));
    return short.toLocaleString("en-US");
  };
  const show = (v, unit, bound) => {
    if (v === null) return "none";
    if (unit !== "µs") return v.toLocaleString("en-US");
    const size = Math.abs(v);
    return size < 1e3 ? v + " µs" : size < 1e6 ? digits(v / 1e3, bound) + " ms" : digits(v / 1e6, bound) + " s";
  };
  const seconds = (s) => (shown.to - shown.from > 300 && s % 60 === 0 ? s / 60 + " min" : s + " s");

  // place puts everything that stands at a time where that now is.
  const place = () => {
    for (const p of pictures) {
      const x = (t) => p.left + (p.width * (t - shown.from)) / (shown.to - shown.from);
      const scale = p.width / (all.to - all.from);
      p.inner.setAttribute("viewBox", [p.left + (shown.from - all.from) * scale, p.top, (shown.to - shown.from) * scale, p.height].join(" "));
      for (const name of p.svg.querySelectorAll(".names text")) {
        const t = Number(name.dataset.at);
        const end = name.getAttribute("text-anchor") === "end";
        name.setAttribute("x", x(Math.max(t, shown.from)) + (end ? -3 : 3));
        const stage = name.classList.contains("stage") || name.classList.contains("discarded");
        name.classList.toggle("off", t > shown.to || (t < shown.from && !stage));
      }
      ticks(p, x);
    }
    whole.hidden = shown.from === all.from && shown.to === all.to;
  };

  const ticks = (p, x) => {
    const group = p.svg.querySelector(".time");
    const rough = (shown.to - shown.from) / 6;
    const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400].find((s) => s >= rough * 0.6) || 28800;
    const svg = "http://www.w3.org/2000/svg";
    const foot = p.top + p.height;
    group.replaceChildren();
    for (let t = Math.ceil(shown.from / step) * step; t <= shown.to; t += step) {
      const line = document.createElementNS(svg, "line");
      const text = document.createElementNS(svg, "text");
      for (const [k, v] of [["x1", x(t)], ["x2", x(t)], ["y1", foot], ["y2", foot + 4]]) line.setAttribute(k, v);
      text.setAttribute("x", x(t));
      text.setAttribute("y", foot + 15);
      text.textContent = seconds(t);
      group.append(line, text);
    }
  };

  const at = (p, event) => {
    const box = p.touch.getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return shown.from + part * (shown.to - shown.from);
  };

  const point = (t) => {
    const i = Math.floor((t - data.from) / data.step);
    const length = data.series[pictures[0].key][0].values.length;
    if (i < 0 || i >= length) return;
    const parts = [];
    for (const p of pictures) {
      p.cross.setAttribute("x1", p.left + (p.width * (t - shown.from)) / (shown.to - shown.from));
      p.cross.setAttribute("x2", p.cross.getAttribute("x1"));
      data.series[p.key].forEach((s, n) => {
        const key = p.svg.parentElement.querySelector(`[data-key="${n}"]`);
        if (key && key.getAttribute("aria-pressed") === "false") return;
        const bound = s.bound && data.bounds[i].includes(s.bound) && s.values[i] !== null ? "≥ " : "";
        parts.push(`${p.key === "requests" ? "" : p.key + " "}${s.name} ${bound}${show(s.values[i], s.unit, bound !== "")}`);
      });
    }
    const begins = data.from + i * data.step;
    const when = new Date(new Date(data.began).getTime() + begins * 1000).toISOString().slice(11, 19);
    readout.textContent = `${begins.toFixed(0)} s (${when}): ${parts.join(" · ")}`;
  };

  for (const p of pictures) {
    let began = null;
    p.touch.addEventListener("pointermove", (e) => point(at(p, e)));
    p.touch.addEventListener("pointerdown", (e) => { began = at(p, e); point(began); });
    p.touch.addEventListener("pointerup", (e) => {
      if (began === null) return;
      const [from, to] = [began, at(p, e)].sort((a, b) => a - b);
      began = null;
      if (to - from < Math.max((shown.to - shown.from) / 50, data.step)) return;
      shown = { from, to };
      place();
    });
    p.touch.addEventListener("pointercancel", () => { began = null; });
    for (const key of p.svg.parentElement.querySelectorAll("[data-key]")) {
      const flip = () => {
        const on = key.getAttribute("aria-pressed") === "false";
        key.setAttribute("aria-pressed", String(on));
        p.svg.querySelector(`[data-series="${key.dataset.key}"]`).classList.toggle("off", !on);
      };
      key.setAttribute("role", "button");
      key.setAttribute("aria-pressed", "true");
      key.tabIndex = 0;
      key.addEventListener("click", flip);
      key.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); flip(); } });
    }
  }
  whole.addEventListener("click", () => { shown = { ...all }; place(); });
})();
