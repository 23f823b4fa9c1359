"use strict";
(() => {
  const CASES = 60, ROWS = 100; // shown at once
  const data = JSON.parse(document.getElementById("data").textContent);
  const wrong = new Set(data.wrong);
  const byId = (id) => document.getElementById(id);
  const list = byId("list"), more = byId("more"), words = byId("q");

  const make = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const look = (verdict) => (wrong.has(verdict) ? "bad" : verdict);

  // What is searched, in lower case: of a case once, of a row only what is its own.
  for (const one of data.cases) {
    one.text = `${one.id} ${one.title} ${one.requirements.join(" ")}`.toLowerCase();
  }
  const names = (one, row) => one.columns.map((name, place) => `${name}=${row[2][place]}`).join(",");
  const textOf = (one, row) => {
    const own = row[3] || {};
    return `${names(one, row)} ${own.m || ""}`.toLowerCase();
  };

  const boxes = new Map();
  const seen = new Map();
  for (const one of data.cases) for (const row of one.rows) seen.set(row[0], (seen.get(row[0]) || 0) + 1);
  data.verdicts.forEach((verdict, index) => {
    if (!seen.has(index)) return;
    const label = make("label"), box = make("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => update());
    label.append(box, " ", make("span", `${verdict} ${seen.get(index)}`, look(verdict)));
    byId("verdicts").append(label);
    boxes.set(index, box);
  });

  let found = [], cases = CASES;

  const search = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const allowed = new Set([...boxes].filter(([, box]) => box.checked).map(([index]) => index));
    found = [];
    for (const one of data.cases) {
      const left = wanted.filter((word) => !one.text.includes(word));
      const rows = one.rows.filter((row) => {
        if (!allowed.has(row[0])) return false;
        if (!left.length) return true;
        const text = textOf(one, row);
        return left.every((word) => text.includes(word));
      });
      if (rows.length) found.push({ one, rows, bad: rows.filter((row) => wrong.has(data.verdicts[row[0]])).length });
    }
    found.sort((a, b) => (b.bad > 0) - (a.bad > 0)); // stable: otherwise as they ran
  };

  const rowOf = (one, row) => {
    const line = make("tr"), verdict = data.verdicts[row[0]], own = row[3] || {};
    line.append(make("td", verdict, look(verdict)));
    for (const value of row[2]) line.append(make("td", value));
    for (let place = row[2].length; place < one.columns.length; place++) line.append(make("td"));
    line.append(make("td", row[1].toFixed(3), "number"));
    const last = make("td", own.m);
    for (const [name, value] of Object.entries(own.r || {})) last.append(make("div", `${name} = ${value}`, "title"));
    if (own.t) {
      const text = make("details"), body = make("pre", own.t);
      body.tabIndex = 0;
      text.append(make("summary", "the whole failure"), body);
      last.append(text);
    }
    line.append(last);
    return line;
  };

  const fill = (body, { one, rows }, count) => {
    const table = make("table"), head = make("tr");
    for (const name of ["verdict", ...one.columns, "seconds", ""]) head.append(make("th", name));
    table.append(head);
    for (const row of rows.slice(0, count)) table.append(rowOf(one, row));
    body.replaceChildren(table);
    if (rows.length > count) {
      const button = make("button", `Show all ${rows.length} rows`);
      button.type = "button";
      button.addEventListener("click", () => fill(body, { one, rows }, rows.length));
      body.append(button);
    }
  };

  const section = (entry) => {
    const { one, rows, bad } = entry, part = make("details"), title = make("summary"), body = make("div", undefined, "wide");
    title.append(make("code", one.id));
    if (one.title) title.append(" ", make("span", one.title, "title"));
    title.append(" ", make("b", bad ? `${bad} of ${rows.length} wrong` : String(rows.length), bad ? "bad" : ""));
    if (one.requirements.length) title.append(" ", make("span", one.requirements.join(" "), "title"));
    part.append(title, body);
    part.addEventListener("toggle", () => {
      if (part.open && !body.firstChild) fill(body, entry, ROWS);
    });
    part.open = found.length <= 3;
    return part;
  };

  const show = () => {
    list.replaceChildren(...found.slice(0, cases).map(section));
    more.hidden = found.length <= cases;
    const rows = found.reduce((sum, entry) => sum + entry.rows.length, 0);
    const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
    byId("shown").textContent = `${count(rows, "row")} of ${count(found.length, "case")}`;
  };

  // The filters are in the address, so that a view can be sent to somebody.
  const remember = () => {
    const state = new URLSearchParams();
    if (words.value) state.set("q", words.value);
    const off = [...boxes].filter(([, box]) => !box.checked).map(([index]) => data.verdicts[index]);
    if (off.length) state.set("without", off.join(" "));
    history.replaceState(null, "", `#${state}`);
  };
  const recall = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    words.value = state.get("q") || "";
    const off = new Set((state.get("without") || "").split(" "));
    for (const [index, box] of boxes) box.checked = !off.has(data.verdicts[index]);
  };

  const update = () => {
    cases = CASES;
    search();
    show();
    try {
      remember();
    } catch {
      // a page that is embedded may not change its address
    }
  };

  let timer = 0;
  words.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, 120);
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => {
    cases += 10 * CASES;
    show();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const heads = [...document.querySelectorAll("#list > details > summary")];
    const at = heads.indexOf(document.activeElement);
    const move = { j: 1, k: -1 }[event.key];
    if (event.key === "/") words.focus();
    else if (move && heads.length) heads[Math.min(heads.length - 1, Math.max(0, at + move))].focus();
    else return;
    event.preventDefault();
  });
  window.addEventListener("hashchange", () => {
    recall();
    update();
  });
  recall();
  update();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
