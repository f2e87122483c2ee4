// Follows a log: its last lines and what comes. Only the last ones stay, so that a browser stays quick however long the log becomes.
(() => {
  "use strict";
  const most = 5000;
  let stop = null;
  const follow = async (button) => {
    const pre = document.getElementById("log-text"), note = document.getElementById("log-note");
    const abort = new AbortController();
    stop = () => abort.abort();
    button.textContent = "Stop";
    if (note) note.textContent = "following";
    pre.textContent = "";
    let count = 0, rest = "", waiting = [];
    const flush = () => {
      if (!waiting.length) return;
      const atEnd = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 40;
      for (const line of waiting.slice(-most)) { pre.append(line + "\n"); count++; }
      waiting = [];
      while (count > most && pre.firstChild) { pre.firstChild.remove(); count--; }
      if (atEnd) pre.scrollTop = pre.scrollHeight;
    };
    const timer = setInterval(flush, 100);
    try {
      const answer = await fetch(button.dataset.follow, { signal: abort.signal });
      if (answer.status === 401) throw new Error("your session is over");
      if (!answer.ok) throw new Error(`the console answered ${answer.status}`);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        waiting.push(...lines);
        if (waiting.length > 2 * most) waiting = waiting.slice(-most);
      }
      if (rest) waiting.push(rest);
      if (note) note.textContent = "the log has ended";
    } catch (error) {
      if (note) note.textContent = error.name === "AbortError" ? "stopped" : `not followed any more: ${error.message}`;
    } finally {
      clearInterval(timer);
      flush();
      stop = null;
      button.textContent = "Follow";
    }
  };
  for (const button of document.querySelectorAll("#log-follow")) button.hidden = !document.getElementById("log-text");
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#log-follow");
    if (button) stop ? stop() : follow(button);
  });
  const pre = document.getElementById("log-text");
  if (pre) pre.scrollTop = pre.scrollHeight;
})();
