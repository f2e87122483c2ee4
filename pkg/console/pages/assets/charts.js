// Curves with uPlot, of the data that the figures have. Without scripts the figures have the same curves as SVG.
(() => {
  "use strict";
  const plots = new Map();
  const color = (tone) => variable(tone === "waiting" ? "--f-waiting" : `--t-${tone}`) || "currentColor";
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // resolve returns a colour without variables, which a canvas does not know.
  const resolve = (value) => {
    const probe = document.createElement("span");
    probe.style.color = value;
    document.body.append(probe);
    const resolved = getComputedStyle(probe).color;
    probe.remove();
    return resolved;
  };
  // times writes the times of the axis in UTC, as all pages do.
  const two = (n) => String(n).padStart(2, "0");
  const times = (u, splits) => splits.map((seconds, i) => {
    const at = new Date(seconds * 1000), step = splits.length > 1 ? splits[1] - splits[0] : 1;
    if (step >= 86400) return at.toLocaleDateString("en", { month: "short", day: "numeric", timeZone: "UTC" });
    const clock = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
    return step < 60 ? `${clock}:${two(at.getUTCSeconds())}` : clock;
  });
  const legend = (figure, plot) => {
    const at = plot.cursor.idx ?? plot.data[0].length - 1;
    figure.querySelectorAll("[data-value]").forEach((value, i) => { value.textContent = plot.data[i + 1][at] ?? "–"; });
  };
  const draw = (figure) => {
    const text = figure.dataset.chart;
    if (!text) return;
    const { series, data } = JSON.parse(text);
    const known = plots.get(figure.id);
    const box = figure.querySelector(".plot");
    if (known && known.box === box) {
      if (known.text !== text) { known.plot.setData(data); known.text = text; legend(figure, known.plot); }
      figure.classList.add("drawn");
      return;
    }
    known?.plot.destroy();
    const axis = { stroke: resolve(variable("--subtle")), grid: { stroke: resolve(variable("--line")), width: 1 }, ticks: { show: false }, font: "12px 'Red Hat Text', sans-serif" };
    const most = Math.max(1, ...data.slice(1).flat());
    const plot = new uPlot({
      width: box.clientWidth, height: 170, cursor: { y: false, drag: { x: true, y: false } }, legend: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: { x: { time: true }, y: { range: (u, low, high) => [0, Math.max(high ?? most, 1) * 1.08] } },
      axes: [{ ...axis, space: 80, size: 26, values: times }, { ...axis, size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] }],
      series: [{}, ...series.map((s) => ({
        label: s.name, stroke: resolve(color(s.tone)), width: s.tone === "asked" ? 1.5 : 2, dash: s.tone === "asked" ? [5, 4] : undefined,
        paths: uPlot.paths.stepped({ align: 1 }), points: { show: false },
      }))],
      hooks: { setCursor: [(u) => legend(figure, u)] },
    }, data, box);
    figure.classList.add("drawn");
    plots.set(figure.id, { plot, box, text });
  };
  const all = () => document.querySelectorAll("figure[data-chart]").forEach(draw);
  const again = () => {
    for (const known of plots.values()) known.plot.destroy();
    plots.clear();
    all();
  };
  all();
  document.addEventListener("htmx:after:swap", all);
  document.addEventListener("firesteel:theme", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { for (const known of plots.values()) known.plot.setSize({ width: known.box.clientWidth, height: 170 }); }, 150);
  });
})();
