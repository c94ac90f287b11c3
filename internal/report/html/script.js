// Cursor, zoom and hiding of lines in the timeline of a report. Without it the page can be read all the same.
(() => {
  "use strict";
  addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });
  const source = document.getElementById("timeline");
  if (!source) return;
  document.documentElement.classList.add("scripted");
  const data = JSON.parse(source.textContent);
  const [readout, cursor] = ["readout", "cursor"].map((id) => document.getElementById(id));
  const panels = [...document.querySelectorAll("[data-picture]")].map((panel) => ({
    panel,
    key: panel.dataset.picture,
    plot: panel.querySelector(".plot"),
    svg: panel.querySelector("svg"),
    cross: panel.querySelector(".crosshair"),
  }));
  const steps = data.bounds.length;
  const all = { from: data.from, to: data.from + steps * data.step };
  let shown = { from: data.view[0], to: data.view[1] };

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
  const percent = (t) => (100 * (t - shown.from)) / (shown.to - shown.from);
  const label = (t) => (shown.to - shown.from > 300 && t % 60 === 0 ? t / 60 + " min" : Number(t.toFixed(1)) + " s");

  // look at a part of the time: everything that stands at a time goes where that now is.
  const look = (from, to) => {
    const span = Math.min(Math.max(to - from, 2 * data.step), all.to - all.from);
    from = Math.min(Math.max(from, all.from), all.to - span);
    shown = { from, to: from + span };
    for (const p of panels) {
      p.svg.setAttribute("viewBox", `${(2 * (from - data.from)) / data.step} 0 ${(2 * span) / data.step} 1000`);
      for (const name of p.panel.querySelectorAll(".names span")) {
        const [begins, ends] = [Number(name.dataset.from), Number(name.dataset.to)];
        const left = percent(Math.max(begins, shown.from));
        name.style.left = left + "%";
        if (!("loose" in name.dataset)) name.style.width = percent(Math.min(ends, shown.to)) - left + "%";
        name.classList.toggle("end", "loose" in name.dataset && left > 60);
        name.classList.toggle("off", begins >= shown.to || ends < shown.from || (ends === shown.from && begins < ends));
        name.classList.toggle("narrow", !("loose" in name.dataset) && name.scrollWidth > name.clientWidth + 1);
      }
      const time = p.panel.querySelector(".time");
      if (time) ticks(time);
    }
    for (const b of document.querySelectorAll(".tools [data-from]")) {
      b.setAttribute("aria-pressed", String(Math.abs(b.dataset.from - shown.from) < 1e-3 && Math.abs(b.dataset.to - shown.to) < 1e-3));
    }
    [cursor.min, cursor.max] = [shown.from, shown.to - data.step / 100];
    cursor.value = at ?? (shown.from + shown.to) / 2;
    cross();
  };

  const ticks = (time) => {
    const rough = (shown.to - shown.from) / 6;
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400].find((s) => s >= rough * 0.6) || 28800;
    time.replaceChildren();
    for (let i = Math.ceil(shown.from / step); i * step <= shown.to; i++) {
      const tick = document.createElement("span");
      tick.style.left = percent(i * step) + "%";
      tick.textContent = label(i * step);
      time.append(tick);
    }
  };

  let at = null;
  const cross = () => {
    for (const p of panels) {
      p.cross.style.display = at === null || at < shown.from || at > shown.to ? "none" : "block";
      p.cross.style.left = percent(at) + "%";
    }
  };

  // point at a moment and read its figures.
  const point = (t) => {
    const i = Math.floor((t - data.from) / data.step);
    if (i < 0 || i >= steps) return;
    at = t;
    cross();
    const parts = [];
    for (const p of panels) {
      for (const [n, s] of (data.series[p.key] || []).entries()) {
        const key = p.panel.querySelector(`[data-key="${n}"]`);
        if (key.getAttribute("aria-pressed") === "false") continue;
        const bound = s.bound && data.bounds[i].includes(s.bound) && s.values[i] !== null ? "≥ " : "";
        parts.push(`${p.key === "requests" ? "" : p.key + " "}${s.name} ${bound}${show(s.values[i], s.unit, bound !== "")}`);
      }
    }
    const begins = data.from + i * data.step;
    const when = new Date(new Date(data.began).getTime() + begins * 1000).toISOString().slice(11, 19);
    readout.textContent = `${begins.toFixed(0)} s (${when}): ${parts.join(" · ")}`;
  };

  for (const p of panels) {
    let began = null;
    const moment = (event) => {
      const box = p.plot.getBoundingClientRect();
      const t = shown.from + Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * (shown.to - shown.from);
      cursor.value = t;
      return t;
    };
    p.plot.addEventListener("pointermove", (e) => point(moment(e)));
    p.plot.addEventListener("pointerdown", (e) => { began = moment(e); point(began); });
    p.plot.addEventListener("pointerup", (e) => {
      if (began === null) return;
      const [from, to] = [began, moment(e)].sort((a, b) => a - b);
      began = null;
      if (to - from >= (shown.to - shown.from) / 50) look(from, to);
    });
    p.plot.addEventListener("pointercancel", () => { began = null; });
    for (const key of p.panel.querySelectorAll("[data-key]")) {
      const flip = () => {
        const on = key.getAttribute("aria-pressed") === "false";
        key.setAttribute("aria-pressed", String(on));
        for (const line of p.svg.querySelectorAll(`[data-series="${key.dataset.key}"]`)) line.classList.toggle("off", !on);
      };
      key.setAttribute("role", "button");
      key.setAttribute("aria-pressed", "true");
      key.tabIndex = 0;
      key.addEventListener("click", flip);
      key.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); flip(); } });
    }
  }
  cursor.addEventListener("input", () => point(Number(cursor.value)));
  for (const b of document.querySelectorAll(".tools [data-from]")) b.addEventListener("click", () => look(Number(b.dataset.from), Number(b.dataset.to)));
  const by = (factor) => {
    const middle = at === null || at < shown.from || at > shown.to ? (shown.from + shown.to) / 2 : at;
    const half = ((shown.to - shown.from) * factor) / 2;
    look(middle - half, middle + half);
  };
  document.getElementById("closer").addEventListener("click", () => by(1 / 2));
  document.getElementById("wider").addEventListener("click", () => by(2));
  look(shown.from, shown.to);
  addEventListener("resize", () => look(shown.from, shown.to));
})();
