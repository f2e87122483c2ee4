// What the pages do with scripts that they do without: relative times that go on, the theme at a click, copying, and what becomes of the stream. htmx
// does the rest. Nothing here makes HTML of a text.
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
    watch();
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const past = (now - Date.parse(time.dateTime)) / 1000;
      const text = past >= 0 ? human(past) : "in " + human(-past);
      if (time.textContent !== text) time.textContent = text;
    }
  };

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

  // A form is sent once: a second click while the answer is awaited does not repeat it.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "true";
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });

  // A sign-out ends the session of the browser: other tabs with pages of it load themselves again, and show the form. It is known once the form is shown.
  const inTabs = new BroadcastChannel(`firesteel ${document.querySelector("[data-theme-toggle]").dataset.path}`);
  const signedOut = "firesteel-signed-out", isSignedIn = document.querySelector(".menu") !== null;
  document.addEventListener("submit", (event) => { if (event.target.matches("[data-sign-out]")) sessionStorage.setItem(signedOut, "true"); });
  if (!isSignedIn && sessionStorage.getItem(signedOut)) inTabs.postMessage(signedOut);
  sessionStorage.removeItem(signedOut);
  inTabs.addEventListener("message", () => { if (isSignedIn) location.reload(); });

  // The stream says that something changed, and the page then asks for itself. What fails is tried again, until the session is over.
  const stream = document.getElementById("stream");
  const retry = 5000, patience = 5000, silence = 60000; // in milliseconds
  // connection is that of the stream, null while there is none. behind reports whether the page could not be asked for.
  let connection = null, behind = false;
  // lost is since when one of both is so, and heard when the stream had its last event.
  let lost = null, heard = 0;
  const pulse = (state, text) => {
    const element = document.getElementById("pulse");
    if (!element) return;
    element.dataset.state = state;
    element.querySelector(".word").textContent = text;
  };
  // since shows a notice with the time of the page as it is now.
  const since = (id) => {
    const notice = document.getElementById(id);
    if (!notice.hidden) return;
    notice.querySelector("time").dateTime = new Date(Date.now() - offset).toISOString();
    notice.hidden = false;
    tick();
  };
  const update = () => {
    if (!stream?.isConnected) return;
    if (connection && !behind) {
      lost = null;
      document.getElementById("lost").hidden = true;
      pulse("live", "Live");
    } else {
      lost ??= performance.now();
      pulse("lost", "Not connected");
    }
  };
  const refresh = () => { if (stream?.isConnected) htmx.trigger(stream, "changed"); };
  const end = () => {
    if (!stream?.isConnected) return;
    stream.remove(); // it opens no other connection
    document.getElementById("lost").hidden = true;
    pulse("off", "Not live");
    since("over");
  };
  // watch looks once a second for what no event says.
  const watch = () => {
    if (lost !== null && stream?.isConnected && performance.now() - lost > patience) since("lost");
    if (connection && !document.hidden && performance.now() - heard > silence) {
      const silent = connection;
      heard = performance.now();
      silent.abortController.abort(); // it is opened again
    }
  };
  setInterval(tick, 1000);
  for (const name of ["ping", "changed"]) stream?.addEventListener(name, () => { heard = performance.now(); });
  stream?.addEventListener("over", end);
  document.addEventListener("htmx:sse:before:connection", () => { connection = null; });
  document.addEventListener("visibilitychange", () => { heard = performance.now(); }); // a hidden page hears nothing
  document.addEventListener("htmx:sse:after:connection", (event) => {
    const again = lost !== null || event.detail.connection.attempt > 0;
    connection = event.detail.connection;
    heard = performance.now();
    update();
    if (again) refresh(); // it is not known what was missed
  });
  document.addEventListener("htmx:sse:error", (event) => {
    connection = null;
    if (event.detail?.status === 401) end();
    update();
  });
  // failed is a request that htmx made: for the page, or the first one of the stream.
  const failed = (source, status) => {
    if (status === 401) return end();
    if (status < 500) return; // the answer is shown
    if (source === stream) setTimeout(() => { if (stream.isConnected) htmx.trigger(stream, "again"); }, retry);
    else {
      behind = true;
      setTimeout(refresh, retry);
    }
    update();
  };
  document.addEventListener("htmx:response:error", (event) => failed(event.detail?.ctx?.sourceElement, event.detail?.ctx?.response?.status));
  document.addEventListener("htmx:error", (event) => failed(event.detail?.ctx?.sourceElement ?? event.target, 599));
  document.addEventListener("htmx:after:swap", (event) => {
    tick();
    if (!(event.detail?.ctx?.response?.status < 500)) return;
    behind = false;
    if (stream?.isConnected && !document.getElementById("live").dataset.hxGet) {
      stream.remove(); // what is shown now does not change
      pulse("off", "Not live");
    }
    update();
  });
})();
