// The page of `ragkpi report`: it shows the JSON in the element "data", and nothing else.
// Whatever comes from files (ids, texts, names of runs) becomes a text node, never markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const queryNumbers = new Map(data.queries.map((query, at) => [query, at]));
  const measures = new Map(data.measures.map((measure) => [measure.name, measure]));
  const MOST_ROWS = 400; // a longer table draws the rows that are in view
  const ROW_HEIGHT = 30; // pixels, as the style sheet has it
  const MOST_IN_VIEW = 15; // rows of a table that needs no bar to scroll
  const HEIGHT = 160; // of a chart, in pixels
  const FEW_CARDS = 20;
  const FEW = 10; // missed documents, columns
  const CUTOFF = data.cutoff;

  // ---- state: what is shown, in the URL's fragment, so that a link shows the same ----

  const whole = data.slices[0].standings;
  const main = whole[data.measures[0].name] ?? Object.values(whole)[0];
  const bestFirst = main.rows.map((row) => row.run);
  const state = { m: "", a: 0, b: 0, s: 0, q: null, p: [] };

  function readFragment() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const run = (name, otherwise) => {
      const place = data.runs.indexOf(parameters.get(name));
      return place < 0 ? otherwise : place;
    };
    state.m = parameters.get("m") in whole ? parameters.get("m") : data.measures.find((measure) => measure.name in whole).name;
    state.a = run("a", bestFirst[0]);
    state.b = run("b", bestFirst.find((other) => other !== state.a) ?? state.a);
    if (state.a === state.b && data.runs.length > 1) state.b = bestFirst.find((other) => other !== state.a);
    state.s = Math.max(0, data.slices.findIndex((part) => part.name === parameters.get("s")));
    state.p = parameters.getAll("p").map((name) => data.runs.indexOf(name)).filter((place) => place >= 0);
    // An id with bytes that are no UTF-8 cannot stand in a link; its number can.
    const number = parameters.has("n") ? Number(parameters.get("n")) : data.queries.indexOf(parameters.get("q"));
    state.q = Number.isInteger(number) && number >= 0 && number < data.queries.length ? number : null;
  }

  function fragmentOf(changes) {
    const next = { ...state, ...changes };
    const parts = new URLSearchParams({ m: next.m });
    if (data.runs.length > 1) {
      parts.set("a", data.runs[next.a]);
      parts.set("b", data.runs[next.b]);
    }
    if (next.s) parts.set("s", data.slices[next.s].name);
    for (const run of next.p) parts.append("p", data.runs[run]);
    if (next.q !== null) {
      const plain = !/[\ud800-\udfff]/.test(data.queries[next.q]);
      plain ? parts.set("q", data.queries[next.q]) : parts.set("n", next.q);
    }
    return "#" + parts;
  }

  function go(changes) {
    const opened = changes.q !== undefined && changes.q !== state.q;
    const fragment = fragmentOf(changes);
    try {
      opened ? history.pushState(null, "", fragment) : history.replaceState(null, "", fragment);
    } catch {
      // A frame in a notebook has no history of its own; the page works without links there.
    }
    arrive(() => Object.assign(state, changes));
  }

  // Changes the state and draws it; a query that opens gets the focus, the overview its place.
  function arrive(change) {
    const before = state.q;
    if (before === null) scrolled = window.scrollY;
    change();
    show();
    if (state.q === before) return;
    window.scrollTo(0, state.q === null ? scrolled : 0);
    if (state.q !== null) byId("query").querySelector("h2").focus({ preventScroll: true });
  }
  let scrolled = 0;

  // ---- elements and numbers ----

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  }

  const fill = (id, ...children) => byId(id).replaceChildren(...children.flat().filter(Boolean));

  const HIDDEN = new RegExp(data.hidden, "gu"); // by code points, so halves of pairs alone

  function visible(text) {
    return text.replace(HIDDEN, (character) => {
      const code = character.charCodeAt(0);
      const isByte = code < 0x20 || (code >= 0xdc80 && code <= 0xdcff);
      return isByte ? "\\x" + (code & 0xff).toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
    });
  }

  const id = (text) => make("bdi", { class: "id" }, visible(text));

  // The name of a run, short where it is long; whole under the pointer and for screen readers.
  function runName(run) {
    const [text, short] = [visible(data.runs[run]), data.names[run]];
    if (text === short) return make("bdi", { class: "id" }, text);
    return make("bdi", { class: "id", title: text }, make("span", { "aria-hidden": "true" }, short), make("span", { class: "sr" }, text));
  }
  // An option with its value stays on one line.
  const prose = (text) => visible(text).split(/(--[a-z][a-z-]*(?: [a-z_]+=[\d.]+)?)/).map((part, place) => (place % 2 ? make("code", {}, part) : part));
  const paragraphs = (texts) => texts.map((text) => make("p", {}, prose(text)));

  const asNumber = (value) => parseFloat(String(value ?? "").replace("inf", "Infinity")); // NaN of NA

  // A number halfway between two texts goes to the even one, as everywhere in ragkpi.
  function fixed(value, digits) {
    const below = Math.floor(Math.abs(value) * 10 ** digits);
    const halfway = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
    return halfway && below % 2 === 0 ? ((Math.sign(value) * below) / 10 ** digits).toFixed(digits) : value.toFixed(digits);
  }
  const isLower = (measure) => measures.get(measure)?.better === "lower";
  const plural = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

  // ---- tables ----

  // Columns are {title, cell, key, numeric}; a click on a title sorts by `key`.
  // `name` is that of the table, under which its order is remembered. In a `box` that scrolls, the
  // rows of a long table are drawn as they come into view.
  const orders = new Map();
  let shownOrder = []; // of the queries, which "next" follows

  function table(name, columns, rows, { caption, rowClass, box } = {}) {
    const sorted = sortedBy(rows, columns, orders.get(name));
    if (name === "heatmap") shownOrder = sorted.map((row) => row.query);
    const head = make("tr", {}, columns.map((column) => heading(name, column, () => {
      const renewed = table(name, columns, rows, { caption, rowClass, box });
      whole.replaceWith(renewed);
      [...renewed.querySelectorAll("th button")].find((button) => button.textContent === column.title)?.focus();
    })));
    const body = make("tbody");
    const whole = make("table", { "aria-rowcount": rows.length + 1 }, caption ? make("caption", {}, caption) : null, make("thead", {}, head), body);
    const rowsBetween = (first, last) => sorted.slice(first, last).map((row, place) => tableRow(columns, row, first + place + 2, rowClass));
    if (!box || sorted.length <= MOST_ROWS) {
      body.append(...rowsBetween(0, sorted.length));
      return whole;
    }
    const space = (count) => {
      const row = make("tr", { "aria-hidden": "true" }, make("td", { colspan: columns.length }));
      row.firstChild.style.cssText = `height:${count * ROW_HEIGHT}px;padding:0;border:0`;
      return count ? [row] : [];
    };
    const draw = () => {
      const first = Math.max(0, Math.floor(box.scrollTop / ROW_HEIGHT) - 20);
      const last = Math.min(sorted.length, first + Math.ceil(box.clientHeight / ROW_HEIGHT) + 60);
      if (body.dataset.first === String(first)) return;
      body.dataset.first = first;
      body.replaceChildren(...space(first), ...rowsBetween(first, last), ...space(sorted.length - last));
    };
    box.scrollTop = 0;
    box.onscroll = () => requestAnimationFrame(draw);
    draw();
    return whole;
  }

  function heading(name, column, renew) {
    const order = orders.get(name);
    const current = order && order.title === column.title;
    const scope = { scope: "col", class: column.numeric ? "number" : null };
    if (!column.key) return make("th", scope, column.title);
    scope["aria-sort"] = current ? (order.descending ? "descending" : "ascending") : "none";
    return make("th", scope, make("button", {
      type: "button",
      onclick: () => {
        const descending = current ? !order.descending : Boolean(column.numeric);
        orders.set(name, { title: column.title, descending });
        renew();
      },
    }, column.title));
  }

  function sortedBy(rows, columns, order) {
    const column = order && columns.find((one) => one.title === order.title);
    if (!column) return rows;
    const keyed = rows.map((row) => [column.key(row), row]);
    const sign = order.descending ? -1 : 1;
    keyed.sort(([one], [other]) => {
      if (typeof one === "string") return sign * one.localeCompare(other, "en", { numeric: true });
      if (Number.isNaN(one) || Number.isNaN(other)) return Number.isNaN(one) - Number.isNaN(other);
      return one === other ? 0 : sign * (one < other ? -1 : 1);
    });
    return keyed.map(([, row]) => row);
  }

  function tableRow(columns, row, number, rowClass) {
    const cells = columns.map((column, place) => {
      const content = column.cell(row);
      if (content instanceof HTMLTableCellElement) return content;
      const kind = place === 0 ? "th" : "td";
      return make(kind, { class: column.numeric ? "number" : null, scope: place === 0 ? "row" : null }, content);
    });
    return make("tr", { class: rowClass?.(row), "aria-rowindex": number }, cells);
  }

  const queryLink = (query) =>
    make("a", { class: "id", href: fragmentOf({ q: query }) }, make("bdi", {}, visible(data.queries[query])));

  // ---- summary ----

  const slice = () => data.slices[state.s];
  const standing = () => slice().standings[state.m];
  const orderOf = () => standing().rows.map((row) => row.run);
  // The best run, its challenger, and what the reader pinned.
  const pinned = () => [...new Set([...bestFirst.slice(0, 2), ...state.p])];

  function drawSummary() {
    const { verdict: [headline, ...more], rows } = standing();
    fill("verdict", make("p", { class: "headline" }, visible(headline)), paragraphs(more));
    const tested = rows.some((row) => row.claim);
    const axis = axisOf(rows.flatMap((row) => row.numbers).filter((number) => typeof number === "number"));
    const ruled = rows.findIndex((row) => row.claim === "worse");
    const others = data.measures.filter((measure) => measure.name !== state.m && measure.name in slice().standings);
    const measureHead = (name) => make("th", { scope: "col", class: name === state.m ? "number" : "number other", "aria-sort": name === state.m ? (isLower(name) ? "ascending" : "descending") : null },
      make("button", { type: "button", onclick: () => go({ m: name }) }, name));
    const head = make("tr", {}, make("th", { scope: "col" }, "Run"), axisHead(axis), measureHead(state.m),
      rows.some((row) => row.difference) ? make("th", { scope: "col", class: "number" }, "vs. best") : null,
      others.map((measure) => measureHead(measure.name)), make("th", { scope: "col", class: "number other" }, `judged@${CUTOFF}`),
      data.runs.length > 2 ? make("th", { scope: "col", class: "other" }, "pin") : null);
    const cells = new Map(others.map((measure) => [measure.name, new Map(slice().standings[measure.name].rows.map((row) => [row.run, row]))]));
    fill("summary-table", make("table", {}, make("thead", {}, head), make("tbody", {},
      rows.map((row, place) => summaryRow(row, place === ruled, tested, cells, head.cells.length, axis)))));
    fill("summary-notes", ruled < 0 ? null : make("p", { class: "hint other" }, "● may be the best, ○ significantly worse than the best (below the line)"), make("details", {}, make("summary", {}, [data.notes.length ? plural(data.notes.length, "note", "notes") : "", "how these numbers were computed"].filter(Boolean).join(", ")),
      paragraphs([...data.notes, ...data.explanation, ...slice().intervals])));
  }

  // Between the ends of an axis: the share of a number from 0 to 1; null without a number.
  function axisOf(numbers) {
    const [low, high] = numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [0, 0];
    return { ends: [...new Set([low, high])], share: (number) => (typeof number === "number" ? (number - low) / (high - low || 1) : null) };
  }

  function axisHead({ ends, share }) {
    const marks = ends.map((end) => {
      const mark = make("span", {}, String(Number(end.toPrecision(4))));
      mark.style.left = `${share(end) * 100}%`;
      return mark;
    });
    return make("th", { class: "axis", "aria-label": "intervals" }, make("div", {}, marks));
  }

  function summaryRow(row, rule, tested, cells, width, axis) {
    const { run, claim } = row;
    const [low, at, high] = row.numbers.map(axis.share);
    const bar = make("div", {}, low === null ? null : make("i", {}), at === null ? null : make("b", {}));
    bar.querySelector("b")?.style.setProperty("background", inkOf(run));
    for (const [element, left, right] of [[bar.querySelector("i"), low, high], [bar.querySelector("b"), at, at]]) {
      if (element) Object.assign(element.style, { left: `${left * 100}%`, width: `${(right - left) * 100}%` });
    }
    const mark = tested ? make("span", { class: "mark", "aria-hidden": "true", style: `color: ${inkOf(run)}` }, claim === "worse" ? "○" : "●") : null;
    const number = (measure, cell, extra) => make("td", { class: measure === state.m ? "number" : "number other", "data-measure": measure, "data-run": run }, cell.value, extra);
    return make("tr", { class: rule ? "rule" : null },
      make("th", { scope: "row" }, mark, runName(run), tested && claim !== "worse" ? make("span", { class: "sr" }, " (may be the best)") : null),
      make("td", { class: "bar" }, bar),
      number(state.m, row, row.interval.length ? make("small", {}, ` [${row.interval.join(", ")}]`) : null),
      width > cells.size + 4 + (data.runs.length > 2) ? make("td", { class: "number" }, row.difference, claim === "worse" ? make("span", { class: "loss" }, " worse") : null) : null,
      [...cells].map(([measure, of]) => number(measure, of.get(run), null)),
      make("td", { class: "number other" }, row.judged),
      data.runs.length > 2 ? make("td", { class: "other" }, make("input", { type: "checkbox", checked: state.p.includes(run), "aria-label": `pin ${visible(data.runs[run])}`, onchange: (event) =>
        go({ p: event.target.checked ? [...state.p, run] : state.p.filter((one) => one !== run) }) })) : null);
  }

  function drawAdvice() {
    const items = data.advice.map(({ text, section }) => make("li", {}, prose(text), " ", sectionLink(byId(section), "→ ")));
    fill("advice", items.length ? [make("h2", {}, "What to do"), make("ol", {}, items)] : []);
  }

  // ---- two runs, A and B ----

  // Of a measure, each query's number and text by run, mean and spread.
  const columnsOf = new Map(Object.entries(data.per_query).map(([measure, { numbers: values, texts, runs, mean, spread }]) => {
    const numbers = values.map(asNumber);
    const column = (places) => ({ text: (query) => texts[places[query]], number: (query) => numbers[places[query]] });
    return [measure, { runs: runs.map(column), mean: column(mean), spread: column(spread) }];
  }));

  // B minus A, with as many digits as both texts have.
  const digits = (text) => (text.split(".")[1] ?? "").length;
  function differenceText({ query, a, b }) {
    const [ofA, ofB] = [state.a, state.b].map((run) => columnsOf.get(state.m).runs[run].text(query));
    return (b > a ? "+" : "") + fixed(b - a, Math.max(digits(ofA), digits(ofB)));
  }

  function pairsOf() {
    const runs = columnsOf.get(state.m)?.runs;
    if (!runs) return [];
    const sign = isLower(state.m) ? -1 : 1;
    return slice().queries
      .map((query) => ({ query, a: runs[state.a].number(query), b: runs[state.b].number(query) }))
      .map((pair) => ({ ...pair, gain: sign * (pair.b - pair.a) }))
      .filter((pair) => !Number.isNaN(pair.gain));
  }

  function drawCompare() {
    byId("compare").hidden = data.runs.length < 2;
    if (data.runs.length < 2) return;
    const pairs = pairsOf();
    const [a, b] = [runName(state.a), runName(state.b)];
    const computed = standing().pairs[state.a]?.[state.b];
    const reverse = computed ? null : standing().pairs[state.b]?.[state.a];
    const [first, second] = reverse ? [a, b] : [b, a];
    const [, text] = computed ?? reverse ?? ["described", "intervals are of pairs with one of the best runs"];
    fill("compare-answer", make("p", {}, first.cloneNode(true), " against ", second.cloneNode(true), ` by ${state.m}: ${text}.`));
    const [nameA, nameB] = [data.names[state.a], data.names[state.b]];
    const finite = pairs.filter((pair) => Number.isFinite(pair.a) && Number.isFinite(pair.b));
    const [low, high] = extent(finite.flatMap((pair) => [pair.a, pair.b]));
    figure("scatter", {
      kind: "plane", title: `${state.m} of each query`, queries: finite.map((pair) => pair.query),
      x: { label: `A: ${nameA}`, low, high }, y: { label: `B: ${nameB}`, low, high },
      points: [{ name: "", x: finite.map((pair) => pair.a), y: finite.map((pair) => pair.b), labels: finite.map((pair) => visible(data.queries[pair.query])) }],
      lines: [{ name: "", x: [low, high], y: [low, high], role: "ceiling" }], rules: [],
    }, `B is ${isLower(state.m) ? "worse" : "better"} above the line. Click a point to open the query.`);
    const ordered = [...pairs].sort((one, other) => other.gain - one.gain);
    const won = ordered.filter((pair) => pair.gain > 0);
    const lost = ordered.filter((pair) => pair.gain < 0).reverse();
    figure("waterfall", {
      kind: "bars", title: `${state.m}: B minus A`, queries: ordered.map((pair) => pair.query),
      values: ordered.map((pair) => pair.b - pair.a), gains: ordered.map((pair) => pair.gain), labels: ordered.map((pair) => visible(data.queries[pair.query])),
      x: { label: plural(ordered.length, "query", "queries") }, y: { label: "B − A" }, inks: [inkOf(state.b), inkOf(state.a)],
    }, "In the colour of the run that won. Click a bar to open the query.");
    fill("won", won.length ? differences("won", "Queries that B won", won) : make("p", { class: "hint" }, "B wins no query."));
    fill("lost", lost.length ? differences("lost", "Queries that B lost", lost) : make("p", { class: "hint" }, "B loses no query."));
  }

  function differences(name, title, pairs) {
    const most = 5;
    const { runs } = columnsOf.get(state.m);
    const columns = [
      { title: "Query", key: (pair) => data.queries[pair.query], cell: (pair) => queryLink(pair.query) },
      { title: "A", numeric: true, key: (pair) => pair.a, cell: ({ query }) => runs[state.a].text(query) },
      { title: "B", numeric: true, key: (pair) => pair.b, cell: ({ query }) => runs[state.b].text(query) },
      { title: "B − A", numeric: true, key: (pair) => pair.b - pair.a, cell: differenceText },
    ];
    const caption = `${title}: ${pairs.length.toLocaleString("en")}${pairs.length > most ? `, the first ${most}` : ""}`;
    return table(name, columns, pairs.slice(0, most), { caption });
  }

  // ---- values per query ----

  let everyRun = false; // whether the table has a column for each

  function drawHeatmap() {
    const values = columnsOf.get(state.m);
    byId("queries").hidden = !values;
    if (!values) return;
    const rows = slice().queries.map((query) => ({ query }));
    const searched = byId("filter").value.trim().toLowerCase();
    const kept = searched ? rows.filter((row) => wordsOf(row.query).includes(searched)) : rows;
    const [low, high] = extent(values.runs.flatMap((ofRun) => slice().queries.map(ofRun.number)));
    const drawn = everyRun ? orderOf() : orderOf().filter((run, place) => place < FEW || state.p.includes(run));
    byId("all-runs").hidden = drawn.length === data.runs.length;
    const columns = [
      { title: "Query", key: (row) => data.queries[row.query], cell: (row) => [queryLink(row.query), " ", queryWords(row.query)] },
      ...(data.runs.length < 2 ? [] : ["mean", "spread"].map((title) => ({
        title, numeric: true, key: (row) => values[title].number(row.query), cell: (row) => values[title].text(row.query),
      }))),
      ...drawn.map((run) => ({
        title: data.names[run], numeric: true, key: (row) => values.runs[run].number(row.query),
        cell: (row) => heatCell(values.runs[run], row.query, low, high),
      })),
    ];
    const scrolls = kept.length > MOST_IN_VIEW;
    byId("queries-count").textContent = `${plural(kept.length, "query", "queries")}${searched ? " found" : ""}${scrolls ? "; scroll the table for more" : ""}.`;
    if (!orders.has("heatmap")) orders.set("heatmap", { title: data.runs.length > 1 ? "spread" : data.names[0], descending: data.runs.length > 1 });
    const box = byId("heatmap");
    box.classList.toggle("tall", scrolls);
    box.replaceChildren(table("heatmap", columns, kept, { box }));
  }

  const wordsOf = (query) => (data.queries[query] + " " + (data.query_texts[query]?.[0] ?? "")).toLowerCase();

  function queryWords(query) {
    const text = data.query_texts[query];
    return text ? make("bdi", { class: "words" }, visible(text[0].slice(0, 160))) : null;
  }

  function heatCell(values, query, low, high) {
    const share = (values.number(query) - low) / (high - low);
    const cell = make("td", { class: "number heat" }, values.text(query));
    cell.style.setProperty("--share", Number.isFinite(share) ? (isLower(state.m) ? 1 - share : share).toFixed(3) : 0);
    return cell;
  }

  // ---- the answers to questions: depth, diagnose, holes ----

  // Of the best run, its challenger and pinned runs, as far as they were computed.
  const answersOf = (answers) => pinned().map((run) => answers?.find((one) => one.run === data.runs[run])).filter(Boolean);

  function drawDepth() {
    const answers = answersOf(slice().depths);
    byId("depths").hidden = !answers.length;
    const charts = (answers[0]?.charts ?? []).map((chart) => {
      const lines = answers.flatMap((one) => one.charts.find((other) => other.title === chart.title)?.lines ?? []);
      return { ...chart, lines: lines.filter((line, place) => lines.findIndex((other) => other.name === line.name) === place) };
    });
    fill("depths-body", ...answerElements("depth", answers, charts, null));
  }

  function drawDiagnosis() {
    const answers = answersOf(slice().diagnoses);
    byId("diagnoses").hidden = !answers.length;
    const charts = answers.flatMap(({ run, charts }) => charts.map((chart) => ({ ...chart, title: `${chart.title}: ${data.names[data.runs.indexOf(run)]}` })));
    fill("diagnoses-body", ...answerElements("diagnose", answers, charts, "query"));
  }

  function drawHoles() {
    byId("holes").hidden = !data.holes;
    if (!data.holes) return;
    const names = pinned().map((run) => data.names[run]);
    const charts = data.runs.length < 2 ? data.holes.charts : data.holes.charts.map((chart) => ({ ...chart, rows: chart.rows.filter((row) => names.includes(row.name)) }));
    fill("holes-body", state.s ? make("p", { class: "hint" }, "Over all queries, not the chosen group.") : null, ...answerElements("holes", [data.holes], charts, null));
  }

  // A chart whose values are all the same says nothing.
  const varies = (chart) => (chart.kind === "intervals"
    ? chart.rows.some((row) => row.low < row.high)
    : chart.points.some((group) => group.x.length) || new Set(chart.lines.flatMap((line) => line.y)).size > 1);

  function answerElements(name, answers, allCharts, queryColumn) {
    const drawn = allCharts.filter(varies);
    const charts = drawn.map((_, place) => make("figure", { id: `${name}-${place}` }));
    queueMicrotask(() => drawn.forEach((chart, place) => {
      const queries = queryColumn ? chart.points.flatMap((group) => group.labels.map((label) => queryNumbers.get(label))) : null;
      figure(`${name}-${place}`, { ...chart, queries });
    }));
    const several = answers.length > 1;
    // What holds for all of the runs, then what does for each.
    const lines = (part) => {
      const common = answers[0]?.[part].filter((line) => answers.every((one) => one[part].includes(line))) ?? [];
      return [...common, ...answers.flatMap((one) => one[part].filter((line) => !common.includes(line)).map((line) => `${data.names[data.runs.indexOf(one.run)]}: ${line}`))];
    };
    const rows = answers.flatMap((one) => one.rows.map((row) => (several ? { run: one.run, ...row } : row)));
    return [
      make("div", { class: "answer" }, answers.map(({ run, verdict }) => make("p", {}, several ? [runName(data.runs.indexOf(run)), ": "] : null, prose(verdict.join(" "))))),
      make("div", { class: "charts" }, charts),
      make("div", { class: "notes" }, paragraphs(lines("notes"))),
      make("details", {}, make("summary", {}, "How this was computed"), make("div", { class: "notes" }, paragraphs(lines("explanation")))),
      make("details", {}, make("summary", {}, "The numbers"), make("div", { class: "scroll" }, rowsTable(name, rows, new Set(answers.flatMap((one) => one.numeric)), queryColumn))),
    ];
  }

  function rowsTable(name, rows, numbers, queryColumn) {
    const columns = [...new Set(rows.flatMap(Object.keys))].map((title) => {
      const numeric = numbers.has(title);
      const text = (row) => visible(row[title] ?? "");
      return {
        title, numeric, key: (row) => (numeric ? asNumber(text(row)) : text(row)),
        cell: (row) => (title === queryColumn && queryNumbers.has(row[title]) ? queryLink(queryNumbers.get(row[title])) : make("bdi", {}, text(row))),
      };
    });
    return table(`rows-${name}`, columns, rows);
  }

  function drawAbout() {
    const definitions = data.measures.map((measure) => make("details", {},
      make("summary", {}, make("code", {}, measure.name)), make("pre", {}, measure.definition)));
    fill("about-body", make("h3", {}, "Measures"), ...definitions);
  }

  // ---- the page of one query ----

  function drawQuery() {
    const query = state.q;
    const text = data.query_texts[query];
    const place = shownOrder.indexOf(query);
    const step = (by) => make("button", {
      type: "button", disabled: place < 0 || shownOrder[place + by] === undefined,
      onclick: () => go({ q: shownOrder[place + by] }),
    }, by < 0 ? "← Previous query" : "Next query →");
    const detail = data.details.find((one) => one.query === query);
    fill("query",
      make("div", { class: "top" }, make("button", { type: "button", id: "back", onclick: () => go({ q: null }) }, "↑ All queries"), step(-1), step(1)),
      make("h2", { tabindex: "-1" }, "Query ", id(data.queries[query])),
      text ? make("p", { class: "question", dir: "auto" }, visible(text[0]), cutNote(text)) : null,
      ...(detail ? documentsOfQuery(detail, text) : [make("p", { class: "note" },
        data.details.length ? "The documents of this query are not on the page, which has those of the queries on which the runs differ most; ragkpi report --detail-queries N takes more." : "The page has no documents.")]),
      make("div", { class: "scroll" }, measuresOfQuery(query)));
  }

  function measuresOfQuery(query) {
    const columns = [{ title: "Run", key: (run) => data.runs[run], cell: (run) => make("th", { scope: "row" }, runName(run), data.runs.length > 1 && run === state.a ? " (A)" : data.runs.length > 1 && run === state.b ? " (B)" : null) },
      ...[...columnsOf].map(([title, { runs }]) => ({
        title, numeric: true, key: (run) => runs[run].number(query), cell: (run) => runs[run].text(query),
      }))];
    return table("of-query", columns, orderOf(), { rowClass: (run) => (data.runs.length > 1 && (run === state.a || run === state.b) ? "baseline" : null) });
  }

  function documentsOfQuery(detail, text) {
    const runs = data.runs.length > 1 ? [state.a, state.b] : [0];
    const ranks = data.runs.map((_, run) => {
      const rankOf = new Map(detail.rankings[run].map((place, at) => [place, at + 1]));
      detail.below[run].forEach(([place, rank]) => rankOf.set(place, rank));
      return rankOf;
    });
    const terms = new Set(words(text?.[0] ?? ""));
    const lists = runs.map((run, side) => make("div", {},
      make("h3", {}, runs.length > 1 ? `${"AB"[side]}: ` : "", runName(run)),
      ranking(detail, run, runs.length > 1 ? runs[1 - side] : null, ranks, terms)));
    return [make("div", { class: "rankings" }, lists), missedOfQuery(detail, runs, ranks)];
  }

  const words = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length > 3 || /\p{N}/u.test(word));

  function ranking(detail, run, other, ranks, terms) {
    const list = make("ol", { class: "ranking" });
    const all = detail.rankings[run];
    const draw = (most) => list.replaceChildren(...all.slice(0, most).map((place, at) => card(detail, place, at + 1, other, ranks, terms)));
    draw(FEW_CARDS);
    if (!all.length) return make("p", { class: "hint" }, "Nothing was retrieved.");
    if (all.length <= FEW_CARDS) return list;
    const more = make("button", { type: "button", onclick: () => { draw(all.length); more.remove(); } }, `Show all ${all.length}`);
    return make("div", {}, list, more);
  }

  function badge(level) {
    const kind = kindOf(level);
    const words = { unjudged: "unjudged", relevant: `relevant, level ${level}`, nonrelevant: `not relevant, level ${level}` };
    return make("span", { class: `badge ${kind}` }, words[kind]);
  }

  const sideOf = (run) => (run === state.a ? "A" : "B");
  const kindOf = (level) => (level === null ? "unjudged" : level >= data.relevance_level ? "relevant" : "nonrelevant");

  function card(detail, place, rank, other, ranks, terms) {
    const level = detail.levels[place];
    const name = detail.documents[place];
    const there = other === null ? null : ranks[other].get(place);
    const elsewhere = [];
    if (other !== null) elsewhere.push(there ? `rank ${there} in ${sideOf(other)}` : `not in ${sideOf(other)}`);
    if (data.pool) elsewhere.push(detail.pool_ranks[place] ? `pool ${detail.pool_ranks[place]}` : "not in the pool");
    const text = data.texts[name];
    const mark = (on) => () => document.querySelectorAll(`[data-place="${place}"]`).forEach((one) => one.classList.toggle("same", on));
    return make("li", { class: `card ${kindOf(level)}`, "data-place": place, onmouseenter: mark(true), onmouseleave: mark(false) },
      make("header", {}, make("span", { class: "rank" }, make("span", { class: "sr" }, "rank "), String(rank)), id(name), badge(level), make("span", { class: "elsewhere" }, elsewhere.join(" · "))),
      text ? make("p", { class: "text", dir: "auto" }, ...withTerms(text[0], terms), cutNote(text)) : null);
  }

  function withTerms(text, terms) {
    return visible(text.replaceAll("\n", "\u2424")).replaceAll("\u2424", "\n").split(/([\p{L}\p{N}]+)/u)
      .map((piece) => (terms.has(piece.toLowerCase()) ? make("mark", {}, piece) : piece));
  }

  const cutNote = ([text, length]) => {
    const drawn = [...text].length;
    return drawn < length ? make("span", { class: "hint" }, ` … (${drawn.toLocaleString("en")} of ${length.toLocaleString("en")} characters)`) : null;
  };

  let everyMissed = false; // whether the table of missed documents is whole

  function missedOfQuery(detail, runs, ranks) {
    const missed = detail.documents.map((_, place) => place).filter((place) =>
      kindOf(detail.levels[place]) === "relevant" && runs.some((run) => !(ranks[run].get(place) <= CUTOFF)));
    if (!missed.length) return make("p", { class: "hint" }, `Every relevant document is among the first ${CUTOFF}.`);
    missed.sort((one, other) => detail.levels[other] - detail.levels[one]);
    const rankOf = (run) => (place) => ranks[run].get(place) ?? Infinity;
    const columns = [
      { title: "Document", key: (place) => detail.documents[place], cell: (place) => id(detail.documents[place]) },
      { title: "Judgement", key: (place) => detail.levels[place], cell: (place) => badge(detail.levels[place]) },
      ...runs.map((run, side) => ({
        title: runs.length > 1 ? `Rank in ${"AB"[side]}` : "Rank", numeric: true, key: rankOf(run),
        cell: (place) => (ranks[run].has(place) ? String(ranks[run].get(place)) : "not retrieved"),
      })),
    ];
    if (data.pool) columns.push({
      title: "Rank in the pool", numeric: true, key: (place) => detail.pool_ranks[place] ?? Infinity,
      cell: (place) => (detail.pool_ranks[place] ? String(detail.pool_ranks[place]) : "not in it"),
    });
    return make("details", { open: true },
      make("summary", {}, `${plural(missed.length, "relevant document", "relevant documents")} missed by ${runs.length > 1 ? "A or B" : "the run"} in the first ${CUTOFF}`),
      make("div", { class: "scroll" }, table("missed", columns, missed.slice(0, everyMissed ? undefined : FEW))),
      missed.length > FEW && !everyMissed ? make("button", { type: "button", onclick: () => { everyMissed = true; drawQuery(); } }, `Show all ${missed.length}`) : null);
  }

  // ---- charts, by Bokeh; drawn one by one, and again when the colours change ----

  const figures = new Map();

  function figure(name, chart, caption = "") {
    const element = byId(name);
    if (!element) return;
    const canvas = make("div", { class: "canvas", role: "img", "aria-label": `${chart.title}. ${caption || "The numbers stand in a table below."}` });
    canvas.style.minHeight = `${heightOf(chart)}px`;
    element.replaceChildren(make("p", { class: "title" }, visible(chart.title)), canvas, ...legendOf(chart), ...(caption ? [make("figcaption", {}, caption)] : []));
    figures.set(element, { canvas, chart, drawn: false });
    whenIdle(drawOneMore);
  }

  const heightOf = ({ kind, rows, queries }) => (kind === "intervals" ? Math.max(110, 70 + 26 * rows.length) : HEIGHT + (queries ? 60 : 0));

  // Names of curves and groups wrap below the chart, each behind its marker.
  function legendOf({ lines = [], points = [] }) {
    const curves = lines.filter((line) => line.role !== "ceiling");
    const entry = (group, place) => [group, MARKERS[place % 8][1], `color: ${inkOf(place)}`];
    const entries = [...curves.map((line) => entry(line, placeOf(line))), ...lines.filter((line) => line.role === "ceiling").map((line) => [line, "┈", null]), ...points.filter((group) => group.x.length).map((group) => entry(group, points.indexOf(group)))]
      .filter(([group]) => group.name);
    return entries.length < 2 ? [] : [make("ul", { class: "legend" }, entries.map(([group, marker, style]) =>
      make("li", {}, make("span", { "aria-hidden": "true", style }, marker), " ", visible(group.mark ? `${group.name}, ${group.mark[1]}` : group.name))))];
  }

  function drawFigure(element) {
    const entry = figures.get(element);
    if (!entry || entry.drawn) return;
    entry.drawn = true;
    entry.canvas.replaceChildren();
    const draw = { plane: drawPlane, bars: drawBars, intervals: drawIntervals }[entry.chart.kind];
    Bokeh.Plotting.show(draw(entry.chart), entry.canvas);
  }

  // A run has the colour and the marker of its place, in every chart.
  const inkOf = (place) => `var(--chart-${(place % 8) + 1})`;
  const placeOf = (line) => Math.max(0, data.names.indexOf(line.name));
  const inked = (ink) => colour(ink.slice(6, -1));
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const DASHES = ["solid", "dashed", "dotdash", "dotted"];
  const MARKERS = [["circle", "●"], ["square", "■"], ["diamond", "◆"], ["triangle", "▲"], ["inverted_triangle", "▼"], ["plus", "+"], ["x", "✕"], ["star", "★"]];

  const MARGIN = 0.06; // of an axis, so that markers at its ends are whole

  function extent(values) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
    if (low > high) return [0, 1];
    const margin = (high - low || 1) * MARGIN;
    return [low - margin, high + margin];
  }

  function emptyFigure(chart, options = {}) {
    const log = chart.x.scale === "log";
    const plot = Bokeh.Plotting.figure({
      height: heightOf(chart), sizing_mode: "stretch_width", tools: "pan,box_zoom,reset,save",
      x_axis_type: log ? "log" : "linear", x_axis_label: chart.x.label, y_axis_label: (chart.y?.label ?? "").replace(/(.{14,22}) /g, "$1\n"), ...options,
    });
    plot.toolbar.logo = null;
    plot.toolbar.autohide = true;
    plot.background_fill_color = null;
    plot.border_fill_color = null;
    plot.outline_line_color = colour("line");
    for (const axis of [...plot.xaxes, ...plot.yaxes]) {
      Object.assign(axis, {
        axis_label_text_color: colour("quiet"), major_label_text_color: colour("quiet"), axis_label_text_font_style: "normal", axis_label_text_font_size: "11px",
        axis_line_color: colour("line"), major_tick_line_color: colour("line"), minor_tick_line_color: null,
      });
    }
    for (const grid of [...plot.xgrids, ...plot.ygrids]) Object.assign(grid, { grid_line_color: colour("line"), grid_line_alpha: 0.5 });
    if (log && chart.x.ticks?.length) plot.xaxes[0].ticker = new Bokeh.FixedTicker({ ticks: [...chart.x.ticks] });
    return plot;
  }

  function clickable(plot, renderer, source, chart, tooltips) {
    plot.add_tools(new Bokeh.HoverTool({ renderers: [renderer], tooltips }));
    if (!chart.queries) return;
    plot.add_tools(new Bokeh.TapTool({ renderers: [renderer] }));
    source.selected.properties.indices.change.connect(() => {
      const chosen = source.selected.indices[0];
      if (chosen !== undefined) go({ q: source.data.query[chosen] });
    });
  }

  function drawPlane(chart) {
    const numbers = (direction, axis) => [
      ...chart.lines.flatMap((line) => [...line[direction], ...(direction === "y" ? (line.band ?? []).flatMap(([, low, high]) => [low, high]) : [])]),
      ...chart.points.flatMap((group) => group[direction]), ...chart.rules.filter((rule) => rule.axis === direction).map((rule) => rule.at),
    ].filter((value) => typeof value === "number" && (axis.scale !== "log" || value > 0));
    const range = (direction) => {
      const axis = chart[direction];
      const [low, high] = extent(numbers(direction, axis));
      if (axis.scale === "log") return [Math.min(...numbers(direction, axis)) / 1.15, Math.max(...numbers(direction, axis)) * 1.15];
      const margin = direction === "y" || chart.points.length ? MARGIN : 0;
      const bottom = axis.low === null || axis.low === undefined ? low : Math.min(axis.low - margin * ((axis.high ?? high) - axis.low), axis.low);
      const top = axis.high === null || axis.high === undefined ? high : Math.max(axis.high + margin * (axis.high - bottom), high);
      return [bottom, top];
    };
    const plot = emptyFigure(chart, { x_range: range("x"), y_range: range("y") });
    const finite = (values) => values.map((value) => (typeof value === "number" ? value : NaN));
    for (const line of chart.lines) {
      const curve = placeOf(line);
      const ceiling = line.role === "ceiling";
      const source = new Bokeh.ColumnDataSource({ data: { x: [...line.x], y: finite(line.y) } });
      const ink = ceiling ? colour("quiet") : inked(inkOf(curve));
      if (line.band?.length) {
        const band = new Bokeh.ColumnDataSource({ data: {
          x: line.band.map(([x]) => x), low: finite(line.band.map(([, low]) => low)), high: finite(line.band.map(([, , high]) => high)),
        } });
        plot.varea({ x: { field: "x" }, y1: { field: "low" }, y2: { field: "high" }, source: band, fill_color: ink, fill_alpha: 0.15 });
      }
      plot.line({ field: "x" }, { field: "y" }, { source, line_width: ceiling ? 1.5 : 2, line_color: ink, line_dash: ceiling ? [2, 4] : DASHES[Math.floor(curve / 4) % 4] });
      if (!ceiling) {
        const markers = plot.scatter({ field: "x" }, { field: "y" }, { source, size: 7, marker: MARKERS[curve % 8][0], fill_color: ink, line_color: ink });
        plot.add_tools(new Bokeh.HoverTool({ renderers: [markers], tooltips: [[visible(line.name), "@y{0.0000} at @x"]] }));
      }
      const marked = line.x.indexOf(line.mark?.[0]);
      if (marked >= 0 && typeof line.y[marked] === "number") {
        const point = new Bokeh.ColumnDataSource({ data: { x: [line.x[marked]], y: [line.y[marked]] } });
        plot.scatter({ field: "x" }, { field: "y" }, { source: point, size: 16, fill_color: null, line_color: ink, line_width: 2 });
      }
    }
    let from = 0;
    chart.points.forEach((group, place) => {
      const queries = chart.queries?.slice(from, from + group.labels.length) ?? [];
      from += group.labels.length;
      const source = new Bokeh.ColumnDataSource({ data: { x: finite(group.x), y: finite(group.y), query: queries, label: group.labels.map(visible) } });
      const ink = group.name ? inked(inkOf(place)) : colour("quiet");
      const glyph = plot.scatter({ field: "x" }, { field: "y" }, { source, size: 9, marker: MARKERS[place % 8][0], fill_color: ink, fill_alpha: 0.55, line_color: ink });
      clickable(plot, glyph, source, chart, [["query", "@label"], [chart.x.label, "@x{0.0000}"], [chart.y.label, "@y{0.0000}"]]);
    });
    for (const rule of chart.rules) {
      plot.add_layout(new Bokeh.Span({ location: rule.at, dimension: rule.axis === "x" ? "height" : "width", line_color: colour("quiet"), line_dash: "dotted" }));
    }
    return plot;
  }

  function drawBars(chart) {
    const [low, high] = extent([0, ...chart.values]);
    const plot = emptyFigure(chart, { x_range: [-0.8, chart.values.length - 0.2], y_range: [low, high] });
    plot.xaxes[0].major_label_text_font_size = "0px";
    plot.xaxes[0].major_tick_line_color = null;
    plot.xgrids[0].visible = false;
    const source = new Bokeh.ColumnDataSource({ data: {
      x: chart.values.map((_, place) => place), y: chart.values, query: chart.queries, label: chart.labels,
      ink: chart.gains.map((gain) => gain ? inked(chart.inks[gain > 0 ? 0 : 1]) : colour("quiet")),
    } });
    const glyph = plot.vbar({ x: { field: "x" }, top: { field: "y" }, width: 0.85, bottom: 0, source, fill_color: { field: "ink" }, line_color: { field: "ink" } });
    clickable(plot, glyph, source, chart, [["query", "@label"], ["difference", "@y{+0.0000}"]]);
    return plot;
  }

  function drawIntervals(chart) {
    const names = chart.rows.map((row) => visible(row.name)).reverse();
    const rows = [...chart.rows].reverse();
    const numbers = rows.flatMap((row) => [row.low, row.value, row.high]).filter((value) => typeof value === "number");
    const plot = emptyFigure(chart, { y_range: new Bokeh.FactorRange({ factors: names }), x_range: extent(numbers) });
    const source = new Bokeh.ColumnDataSource({ data: {
      name: names, low: rows.map((row) => row.low ?? NaN), value: rows.map((row) => row.value ?? NaN), high: rows.map((row) => row.high ?? NaN),
    } });
    plot.hbar({ y: { field: "name" }, left: { field: "low" }, right: { field: "high" }, height: 0.3, source, fill_color: colour("accent"), fill_alpha: 0.3, line_color: colour("accent") });
    const glyph = plot.scatter({ field: "value" }, { field: "name" }, { source, size: 9, fill_color: colour("ink"), line_color: colour("ink") });
    plot.add_tools(new Bokeh.HoverTool({ renderers: [glyph], tooltips: [["now", "@value{0.0000}"], ["minimum", "@low{0.0000}"], ["maximum", "@high{0.0000}"]] }));
    return plot;
  }

  // When there is nothing else to do, so that a page is printed with all of its charts.
  const whenIdle = window.requestIdleCallback ?? ((task) => setTimeout(task, 200));

  function drawOneMore() {
    const next = [...figures].find(([element, entry]) => !entry.drawn && element.offsetParent !== null);
    if (!next) return;
    drawFigure(next[0]);
    whenIdle(drawOneMore);
  }

  function recolour() {
    for (const [element, entry] of figures) {
      entry.drawn = false;
      if (!element.isConnected) figures.delete(element);
    }
    whenIdle(drawOneMore);
  }

  // ---- all together ----

  function options(select, names, chosen, places = names.map((_, place) => place)) {
    select.replaceChildren(...places.map((place) => make("option", { value: place, selected: place === chosen }, visible(names[place]))));
  }

  function show() {
    const inQuery = state.q !== null;
    options(byId("measure"), data.measures.map((measure) => measure.name), data.measures.findIndex((measure) => measure.name === state.m));
    options(byId("a"), data.names, state.a, orderOf());
    options(byId("b"), data.names, state.b, orderOf());
    options(byId("slice"), data.slices.map((part) => `${part.name} (${part.queries.length})`), state.s);
    byId("overview").hidden = inQuery;
    byId("query").hidden = !inQuery;
    if (!inQuery || !shownOrder.length) drawOverview();
    if (inQuery) drawQuery();
    whenIdle(drawOneMore);
  }

  let drawnFor = "";
  function drawOverview() {
    const now = JSON.stringify([state.m, state.a, state.b, state.s, state.p]);
    if (now === drawnFor) return;
    drawnFor = now;
    for (const draw of [drawSummary, drawCompare, drawHeatmap, drawDepth, drawDiagnosis, drawHoles]) draw();
    fill("sections", [...document.querySelectorAll("#overview > section:not([hidden])")].map((section) => sectionLink(section, "")));
  }

  const sectionLink = (section, arrow) => make("a", { href: `#${section.id}`, onclick: (event) => {
    event.preventDefault();
    if (state.q !== null) go({ q: null });
    section.scrollIntoView();
  } }, arrow + section.querySelector("h2").textContent);

  byId("measure").onchange = (event) => go({ m: data.measures[event.target.value].name });
  byId("a").onchange = (event) => go({ a: Number(event.target.value), b: Number(event.target.value) === state.b ? state.a : state.b });
  byId("b").onchange = (event) => go({ b: Number(event.target.value), a: Number(event.target.value) === state.a ? state.b : state.a });
  byId("slice").onchange = (event) => go({ s: Number(event.target.value) });
  byId("filter").oninput = drawHeatmap;
  byId("all-runs").onclick = () => { everyRun = true; drawHeatmap(); };
  byId("controls").onsubmit = (event) => event.preventDefault();
  document.querySelectorAll(".sliced").forEach((label) => { label.hidden = data.slices.length < 2; });
  addEventListener("hashchange", () => {
    const section = byId(location.hash.slice(1));
    if (section?.matches("section")) return; // a link to a part of the page
    arrive(readFragment);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  addEventListener("beforeprint", () => figures.forEach((_, element) => drawFigure(element)));
  readFragment();
  drawAbout();
  drawAdvice();
  show();
})();
