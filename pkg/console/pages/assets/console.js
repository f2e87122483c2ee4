// What the pages do with scripts that they do without: relative times that go on, the theme at a click, copying, and the state of the stream. htmx does
// the rest. Nothing here makes HTML of a text.
(() => {
  "use strict";
  const root = document.documentElement;

  // Relative times go on between two answers of the server. The page's own time, not the clock of this machine, is what they are relative to.
  const offset = Date.now() - Date.parse(root.dataset.now);
  // human repeats Kubernetes' HumanDuration, which the server uses.
  const human = (seconds) => {
    const s = Math.floor(seconds), m = Math.floor(s / 60), h = Math.floor(s / 3600), d = Math.floor(h / 24);
    const two = (a, x, b, y) => (b ? `${a}${x}${b}${y}` : `${a}${x}`);
    if (s < 60 * 2) return `${s}s`;
    if (m < 10) return two(m, "m", s % 60, "s");
    if (m < 60 * 3) return `${m}m`;
    if (h < 8) return two(h, "h", m % 60, "m");
    if (h < 48) return `${h}h`;
    if (h < 24 * 8) return two(d, "d", h % 24, "h");
    if (d < 365 * 2) return `${d}d`;
    if (d < 365 * 8) return two(Math.floor(d / 365), "y", d % 365, "d");
    return `${Math.floor(d / 365)}y`;
  };
  const tick = () => {
    const now = Date.now() - offset;
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const past = (now - Date.parse(time.dateTime)) / 1000;
      const text = past >= 0 ? human(past) : "in " + human(-past);
      if (time.textContent !== text) time.textContent = text;
    }
  };
  setInterval(tick, 1000);

  // On a narrow window the tabs scroll: the current one is brought into view.
  const tabs = document.querySelector(".tabs"), tab = tabs?.querySelector("[aria-current]");
  if (tab) tabs.scrollLeft += tab.getBoundingClientRect().left - tabs.getBoundingClientRect().left - (tabs.clientWidth - tab.offsetWidth) / 2;

  document.addEventListener("click", async (event) => {
    const theme = event.target.closest("[data-theme-toggle]");
    if (theme) {
      const dark = root.classList.contains("pf-v6-theme-dark") ||
        (!root.classList.contains("theme-light") && matchMedia("(prefers-color-scheme: dark)").matches);
      root.classList.toggle("pf-v6-theme-dark", !dark);
      root.classList.toggle("theme-light", dark);
      document.cookie = `firesteel-theme=${dark ? "light" : "dark"}; path=${theme.dataset.path}; max-age=31536000; samesite=strict` +
        (location.protocol === "https:" ? "; secure" : "");
      document.dispatchEvent(new CustomEvent("firesteel:theme"));
      return;
    }
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      const text = copy.parentElement.querySelector("code").textContent;
      try {
        await navigator.clipboard.writeText(text);
        say("Copied");
      } catch {
        getSelection().selectAllChildren(copy.parentElement.querySelector("code"));
        say("Selected: copy it with the keyboard");
      }
    }
  });
  const say = (text) => {
    const status = document.getElementById("said");
    if (status) status.textContent = text;
  };

  // A menu closes with Escape and when something else is clicked. Slash leads to the search.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      for (const menu of document.querySelectorAll("details.menu[open]")) {
        menu.open = false;
        menu.querySelector("summary").focus();
      }
    }
    if (event.key === "/" && !event.target.closest("input, select, textarea")) {
      const find = document.getElementById("find");
      if (find) {
        event.preventDefault();
        find.focus();
      }
    }
  });
  document.addEventListener("pointerdown", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });

  // A select of a filter applies at once.
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-auto]");
    if (form && event.target.tagName === "SELECT") form.requestSubmit();
  });

  const pulse = (state, text) => {
    const element = document.getElementById("pulse");
    if (!element) return;
    element.dataset.state = state;
    element.querySelector(".word").textContent = text;
  };
  document.addEventListener("htmx:sse:after:connection", () => pulse("live", "Live"));
  // Without a session the page is asked for again, and leads to the sign-in.
  const over = (status) => { if (status === 401) location.reload(); };
  document.addEventListener("htmx:sse:error", (event) => {
    pulse("lost", "Not connected");
    over(event.detail?.status);
  });
  document.addEventListener("htmx:response:error", (event) => over(event.detail?.ctx?.response?.status));
  document.addEventListener("htmx:after:swap", tick);
})();
