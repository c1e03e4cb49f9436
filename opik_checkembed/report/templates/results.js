const { scores, items } = read("index");
const LEVELS = ["no doubt", "little doubt", "some doubt", "much doubt", "most doubt"];
const SHARES = [0.2, 0.4, 0.6, 0.8];

/* The table */

const order = { by: scores.length ? 0 : "place", up: scores.length ? scores[0].higher !== false : true };
const holds = searched(items, (item) => [item.id, item.asked, item.output]);
let rows = items.map((_, place) => place);

/** What a column sorts by; a failed score is the worst of all, and one that an item does not have comes last. */
function compared(by, up) {
  const sign = up ? 1 : -1;
  if (by === "place") return (a, b) => sign * (a - b);
  if (by === "id" || by === "asked") {
    const collator = new Intl.Collator("en", { numeric: true });
    return (a, b) => sign * collator.compare(items[a][by], items[b][by]) || a - b;
  }
  const worst = scores[by].higher === false ? Infinity : -Infinity;
  const key = (place) => (items[place].values[by] === false ? worst : items[place].values[by]);
  return (a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    return x === y ? a - b : sign * (x < y ? -1 : 1);
  };
}

function bounds() {
  return scores.flatMap((_, at) => {
    const [low, high] = ["low", "high"].map((end) => byId(`${end}-${at}`).value.trim());
    return low === "" && high === "" ? [] : [[at, low === "" ? -Infinity : Number(low), high === "" ? Infinity : Number(high)]];
  });
}

function refresh() {
  const words = byId("words").value.trim().toLowerCase();
  const state = byId("state").value;
  const limits = bounds();
  rows = items.flatMap((item, place) => {
    if (state && item.failed !== (state === "failed")) return [];
    for (const [at, low, high] of limits) {
      const value = item.values[at];
      if (typeof value !== "number" || value < low || value > high) return [];
    }
    return words && !holds(place, words) ? [] : [place];
  });
  rows.sort(compared(order.by, order.up));
  for (const cell of byId("table").tHead.rows[0].cells) {
    const mine = cell.dataset.by === String(order.by);
    if (mine) cell.setAttribute("aria-sort", order.up ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
  }
  const all = rows.length === items.length;
  byId("count").textContent = all ? counted(items.length, "item") : `${number.format(rows.length)} of ${counted(items.length, "item")}`;
  pager.show(rows);
}

function cellOf(value) {
  if (value === false) return el("td", { class: "num alarm" }, "failed");
  return el("td", { class: value === null ? "num soft" : "num" }, value === null ? "\u2013" : figure(value));
}

const pager = new Pager((places) => {
  byId("table").tBodies[0].replaceChildren(...places.map((place) => {
    const item = items[place];
    const link = el("a", { href: `#item=${place + 1}`, dir: "auto" }, item.asked || item.output || "(no question, no answer)");
    return el("tr", {},
      el("td", { class: "id" }, el("bdi", {}, item.id)),
      el("th", { scope: "row", class: "asked" }, link),
      item.values.map(cellOf));
  }));
});

function heading(by, ...label) {
  const numeric = typeof by === "number";
  const button = el("button", { type: "button" }, el("span", {}, ...label));
  button.addEventListener("click", () => {
    const worstFirst = !numeric || scores[by].higher !== false;
    order.up = order.by === by ? !order.up : worstFirst;
    order.by = by;
    refresh();
  });
  return el("th", { scope: "col", class: numeric ? "num" : null, "data-by": by }, button);
}

byId("table").tHead.rows[0].append(
  heading("id", "Id"), heading("asked", "Question"), ...scores.map((score, at) => heading(at, ...breakable(score.name))));
byId("ranges").lastElementChild.append(...scores.map((score, at) => el("fieldset", {},
  el("legend", {}, ...breakable(score.name)),
  el("div", { class: "pair" },
    el("input", { type: "number", step: "any", id: `low-${at}`, form: "filters", "aria-label": `${score.name} from`, placeholder: "from" }),
    el("span", { "aria-hidden": "true" }, "to"),
    el("input", { type: "number", step: "any", id: `high-${at}`, form: "filters", "aria-label": `${score.name} to`, placeholder: "to" })))));
byId("ranges").hidden = !scores.length;
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("reset", () => setTimeout(refresh));
// Not "change" of the texts, which comes when they lose the focus: a row that is then clicked must stay.
byId("items").addEventListener("input", (event) => { if (event.target !== byId("state")) refresh(); });
byId("state").addEventListener("change", refresh);

/* One item, built when it is opened */

let sharedTexts = null;

/** A text, or the shared one that a number points to. */
function textOf(value) {
  if (typeof value !== "number") return value;
  sharedTexts ??= read("texts");
  return sharedTexts[value];
}

function levelOf(value, cuts) {
  return cuts.filter((cut) => value >= cut).length;
}

/** Text with places in it set apart; places are in order and do not overlap, `made` makes the node for each. */
function withPlaces(text, start, end, places, made) {
  const nodes = [];
  let at = start;
  for (const place of places) {
    if (place.s < at || place.e > end) continue;
    nodes.push(shown(text.slice(at, place.s)), made(place, text.slice(place.s, place.e)));
    at = place.e;
  }
  nodes.push(shown(text.slice(at, end)));
  return nodes;
}

const byStart = (a, b) => a.s - b.s;
const part = (title, ...children) => el("section", { class: "part" }, el("h2", {}, title), ...children);

class ItemView {
  constructor(place) {
    this.item = items[place];
    this.details = read(`item-${place}`);
    this.place = place;
    this.samples = new Map();
    this.sources = [];
    this.readable = this.details.scores.filter((score) => score.marks && score.marks.length);
  }

  nodes() {
    const at = rows.indexOf(this.place);
    const step = (by, label) => {
      const other = at < 0 ? undefined : rows[at + by];
      const button = el("button", { type: "button", disabled: other === undefined }, label);
      button.addEventListener("click", () => { location.hash = `item=${other + 1}`; });
      return button;
    };
    const back = el("button", { type: "button" }, "All items");
    back.addEventListener("click", () => { location.hash = "items"; });
    const asked = this.item.asked || "(the item does not say what was asked)";
    return [
      el("nav", { class: "bar-nav", "aria-label": "Items" }, back, el("span", { class: "gap" }), step(-1, "Previous"), step(1, "Next")),
      el("p", { class: "kicker" }, "Item ", el("bdi", {}, this.item.id), at < 0 ? null : `, ${number.format(at + 1)} of ${number.format(rows.length)}`),
      el("h1", { id: "item-heading", class: `question${asked.length > 200 ? " long" : ""}`, tabindex: "-1", dir: "auto" }, asked),
      this.details.error ? el("p", { class: "alarm", dir: "auto" }, `The task failed: ${this.details.error}`) : null,
      this.scoreTable(),
      this.answer(),
      ...this.sourceParts(),
      ...this.details.sets.map((set, number) => this.sampleSet(set, number)),
      ...this.details.scores.filter((score) => score.matrix).map((score) => heatmap(scores[score.n].name, score.matrix)),
      this.conversation(),
      this.more(),
    ].filter((node) => node !== null);
  }

  scoreTable() {
    if (!this.details.scores.length) return null;
    return el("div", { class: "scroll", role: "region", "aria-label": "Scores of this item", tabindex: "0" },
      el("table", { class: "reasons", role: "table" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Score"), el("th", { scope: "col", class: "num" }, "Value"), el("th", { scope: "col" }, "Reason"))),
        // On a phone a row is a grid; the roles keep it a row.
        el("tbody", { role: "rowgroup" }, this.details.scores.map((score) => el("tr", { role: "row" },
          el("th", { scope: "row", role: "rowheader" }, ...breakable(scores[score.n].name)),
          filled(cellOf(this.item.values[score.n]), { role: "cell" }, []),
          el("td", { class: "why", role: "cell", dir: "auto" }, score.reason))))));
  }

  answer() {
    if (!this.item.output && !this.readable.length) return part("Answer", el("p", { class: "soft" }, "There is no answer in these results."));
    if (!this.readable.length) return part("Answer", el("div", { class: "answer words", dir: "auto" }, this.item.output));
    this.text = el("div", { class: "answer words", dir: "auto" });
    this.evidence = el("aside", { class: "evidence empty", "aria-live": "polite", "aria-label": "Evidence" });
    this.legend = el("p", { class: "legend" });
    const chosen = this.readable.length > 1
      ? el("fieldset", { class: "choice" }, el("legend", { class: "small" }, "Coloured by"), this.readable.map((score, at) => {
        const input = el("input", { type: "radio", name: "coloured", checked: at === 0 });
        input.addEventListener("change", () => this.colour(score));
        return el("label", {}, input, el("span", {}, ...breakable(scores[score.n].name)));
      })) : null;
    const section = part("Answer", chosen, el("div", { class: "reading" }, el("div", {}, this.text, this.legend), this.evidence));
    section.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.choose(null);
    });
    return section;
  }

  /** Show the answer as one score sees it. */
  colour(score) {
    this.score = score;
    const text = score.text ?? this.item.output;
    this.text.replaceChildren(...withPlaces(text, 0, text.length, score.marks, (mark, said) => this.marked(mark, said, text)));
    const word = score.kind === "claims" ? "claim" : "sentence";
    const fifths = scores[score.n].cuts.some((cut, at) => cut !== SHARES[at]) ? " Tints are fifths of all sentences, since this score has no upper end." : "";
    const plain = el("span", {}, `Choose a ${word} to see what decided its score.${fifths}`);
    this.legend.replaceChildren(...LEVELS.map((label, level) => el("span", { class: `key mark l${level}` }, label)), plain);
    this.choose(null);
  }

  marked(mark, said, text) {
    const cuts = scores[this.score.n].cuts;
    const places = (mark.facts ?? []).filter((fact) => fact.s !== undefined).sort(byStart);
    const level = mark.v === null ? null : levelOf(mark.v, cuts);
    const label = mark.v === null ? "not scored" : `${figure(mark.v)}, ${LEVELS[level]}`;
    const own = places.length ? "has-facts" : level === null ? "unscored" : `l${level}`;
    const inner = places.length
      ? withPlaces(text, mark.s, mark.e, places, (fact, words) => el("span", { class: `fact l${levelOf(1 - fact.support, SHARES)}` }, words))
      : [said];
    const node = el("span", { class: `mark ${own}`, role: "button", tabindex: "0", "aria-pressed": "false" },
      ...inner, el("span", { class: "v", "aria-hidden": "true" }, mark.v === null ? "\u2013" : mark.v.toFixed(2)),
      el("span", { class: "unseen" }, ` (${label})`));
    node.addEventListener("click", () => this.choose(this.chosen === node ? null : node, mark, said));
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      node.click();
    });
    return node;
  }

  /** Show what decided a sentence's score: beside it, in the samples and in the source. */
  choose(node, mark = null, said = "") {
    this.chosen?.setAttribute("aria-pressed", "false");
    this.chosen = node;
    node?.setAttribute("aria-pressed", "true");
    this.evidence.classList.toggle("empty", mark === null);
    this.evidence.replaceChildren(...(mark === null ? [el("p", {}, "What decided a score is shown here.")] : this.evidenceOf(mark, said)));
    this.markSamples(mark);
    this.markSources(mark);
    node?.scrollIntoView({ block: "nearest" });
  }

  evidenceOf(mark, said) {
    const { cuts, name } = scores[this.score.n];
    const verdict = mark.v === null ? "not scored" : `${figure(mark.v)}, ${LEVELS[levelOf(mark.v, cuts)]}`;
    return [
      el("h3", {}, ...breakable(name), ": ", verdict),
      el("blockquote", { dir: "auto" }, said),
      mark.unscored ? el("p", {}, "Not scored: ", el("bdi", {}, mark.unscored)) : null,
      ...(mark.said ?? []).map(([label, text]) => el("p", { dir: "auto" }, el("bdi", { class: "soft" }, label), " ", text)),
      ...this.passage("Supported least by", mark.against),
      ...this.passage("Supported most by", mark.support),
      ...this.inSource(mark.source),
      mark.facts ? this.facts(mark.facts) : null,
    ].filter((one) => one !== null);
  }

  usable() {
    const set = this.details.sets[this.score.set ?? 0];
    return set ? set.samples.flatMap((sample, at) => (sample.ok ? [at] : [])) : [];
  }

  sampleOf(at) {
    return this.samples.get(`${this.score.set ?? 0}-${this.usable()[at]}`);
  }

  passage(label, passage) {
    if (!passage) return [];
    const sample = passage.n === undefined ? null : this.sampleOf(passage.n);
    const text = passage.text ?? (sample ? sample.text.slice(passage.s, passage.e) : "");
    const value = passage.v === undefined ? "" : ` (${figure(passage.v)})`;
    const whose = sample ? el("a", { href: `#${sample.node.id}` }, sample.name) : "a sample";
    if (sample) whose.addEventListener("click", (event) => { event.preventDefault(); reveal(sample.node); });
    return [el("h4", {}, label, " ", whose, value), el("blockquote", { dir: "auto" }, text)];
  }

  inSource(place) {
    if (!place) return [];
    const source = this.sources.find((one) => one.score === this.score && one.number === place.n);
    const text = place.text ?? (source ? source.text.slice(place.s, place.e) : "");
    const where = source ? el("a", { href: `#${source.node.id}` }, `passage ${place.n + 1}`) : null;
    where?.addEventListener("click", (event) => { event.preventDefault(); reveal(source.node); });
    return [el("h4", {}, "In the source", where ? ", " : "", where), el("blockquote", { dir: "auto" }, text)];
  }

  facts(facts) {
    return el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Specific"), el("th", { scope: "col", class: "num" }, "Support"), el("th", { scope: "col" }, "Others say"))),
      el("tbody", {}, facts.map((fact) => el("tr", {},
        el("th", { scope: "row" }, el("bdi", {}, fact.text ?? (this.score.text ?? this.item.output).slice(fact.s, fact.e))),
        el("td", { class: "num" }, fact.support === undefined ? "\u2013" : `${Math.round(fact.support * 100)} %`),
        el("td", { dir: "auto" }, (fact.instead ?? []).join(", "))))));
  }

  sampleSet(set, number) {
    const name = this.details.sets.length > 1 ? `Samples, set ${number + 1}` : "Samples";
    const said = [
      `${set.samples.length} of ${set.requested} came`,
      set.temperature === null ? null : `temperature ${set.temperature}`,
      ...set.failures.map((failure) => `failed: ${failure}`), ...set.notes,
    ].filter((one) => one !== null);
    return part(name, el("p", { class: "soft small", dir: "auto" }, said.join("; ")), el("ol", { class: "columns" }, set.samples.map((sample, at) => {
      const title = `Sample ${at + 1}`;
      const value = el("span", { class: "soft" });
      const words = el("div", { class: "words", dir: "auto" }, sample.text || "(empty)");
      const node = el("li", { class: `sample${sample.ok ? "" : " unusable"}`, id: `sample-${number}-${at}`, tabindex: "-1" },
        el("h3", {}, title, value), el("p", { class: "about" }, sample.about.join(", ")), words);
      this.samples.set(`${number}-${at}`, { node, value, words, text: sample.text, name: `sample ${at + 1}` });
      return node;
    })));
  }

  markSamples(mark) {
    for (const sample of this.samples.values()) {
      sample.value.textContent = "";
      if (sample.words.childElementCount) sample.words.replaceChildren(shown(sample.text || "(empty)"));
    }
    if (mark === null) return;
    (mark.per ?? mark.verdicts ?? []).forEach((_, at) => {
      const value = mark.per?.[at];
      const word = this.score.kind === "claims" ? "support" : "doubt";
      const said = [value === undefined || value === null ? null : `${word} ${figure(value)}`, mark.verdicts?.[at]].filter(Boolean);
      const sample = this.sampleOf(at);
      if (sample) sample.value.textContent = shown(said.join(", "));
    });
    const found = new Map();
    for (const [side, label] of [["support", "supports most"], ["against", "supports least"]]) {
      const place = mark[side];
      if (!place || place.n === undefined || place.s === undefined) continue;
      found.set(place.n, [...(found.get(place.n) ?? []), { ...place, side, label }]);
    }
    for (const [at, places] of found) {
      const sample = this.sampleOf(at);
      sample?.words.replaceChildren(...withPlaces(sample.text, 0, sample.text.length, places.sort(byStart), (place, text) =>
        el("mark", { class: place.side }, text, el("span", { class: "tag" }, `(${place.label})`))));
    }
  }

  sourceParts() {
    return this.details.scores.filter((score) => score.source).map((score) => part(`Source, read by ${scores[score.n].name}`,
      score.source.map((value, number) => {
        const text = textOf(value);
        const words = el("div", { class: "words", dir: "auto" }, text);
        const node = el("div", { class: "source", id: `source-${score.n}-${number}`, tabindex: "-1" },
          score.source.length > 1 ? el("p", { class: "soft small" }, `Passage ${number + 1}`) : null, words);
        this.sources.push({ score, number, node, words, text });
        return node;
      })));
  }

  markSources(mark) {
    for (const source of this.sources) {
      const place = mark?.source;
      const here = place && source.score === this.score && source.number === place.n && place.s !== undefined;
      if (here) source.words.replaceChildren(...withPlaces(source.text, 0, source.text.length, [place], (_, text) => el("mark", {}, text)));
      else if (source.words.childElementCount) source.words.replaceChildren(shown(source.text));
    }
  }

  conversation() {
    const turns = this.details.conversation;
    if (!turns) return null;
    return part("Conversation", el("dl", { class: "turns" }, turns.flatMap(([role, text]) =>
      [el("dt", {}, el("bdi", {}, role)), el("dd", { class: "words", dir: "auto" }, text)])));
  }

  more() {
    const numbers = this.details.scores.filter((score) => score.numbers.length);
    if (!this.details.fields.length && !numbers.length) return null;
    const list = (pairs) => el("dl", {}, pairs.flatMap(([name, text]) => [el("dt", {}, el("bdi", {}, name)), el("dd", { dir: "auto" }, text)]));
    return part("More",
      this.details.fields.length ? el("details", { class: "more" }, el("summary", {}, "Other fields of the item"),
        list(this.details.fields.map(([name, values]) => [name, values.map(textOf).join("\n\n")]))) : null,
      numbers.map((score) => el("details", { class: "more" }, el("summary", {}, "Figures behind ", ...breakable(scores[score.n].name)), list(score.numbers))));
  }
}

function reveal(node) {
  node.focus({ preventScroll: true });
  node.scrollIntoView({ block: "center" });
}

/* The similarities of the answers, in the colours and on the scale of the package's pictures */

const VIRIDIS = ["440154", "482475", "414487", "355f8d", "2a788e", "21918c", "22a884", "44bf70", "7ad151", "bddf26", "fde725"]
  .map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
const SCALE = [[-1, 0], [0, 0.12], [0.5, 0.3], [0.8, 0.52], [0.9, 0.75], [1, 1]];

function coloursOf(value) {
  const within = Math.min(1, Math.max(-1, value));
  const above = Math.max(1, SCALE.findIndex(([end]) => within <= end));
  const [[low, from], [high, to]] = [SCALE[above - 1], SCALE[above]];
  const place = (from + ((within - low) / (high - low)) * (to - from)) * (VIRIDIS.length - 1);
  const first = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const rgb = VIRIDIS[first].map((part, at) => Math.round(part + (VIRIDIS[first + 1][at] - part) * (place - first)));
  const light = rgb.map((part) => (part <= 10.3 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  const dark = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] < 0.179;
  return [`rgb(${rgb.join(",")})`, dark ? "#fff" : "#1a1a1a"];
}

function heatmap(name, { labels, values }) {
  const n = labels.length;
  const side = n <= 12 ? 44 : Math.max(8, Math.floor(528 / n));
  const left = 84;
  const valueAt = (row, column) => {
    const [a, b] = row < column ? [row, column] : [column, row];
    return values[a * n - (a * (a + 1)) / 2 + (b - a - 1)];
  };
  const exact = el("p", { class: "small", role: "status" }, "Point at a cell, or move through them with the arrow keys, for its exact value.");
  const said = (row, column) => `${labels[row]} and ${labels[column]}: ${valueAt(row, column)}`;
  const cells = [];
  const drawn = svg("svg", { class: "heatmap", viewBox: `0 0 ${left + n * side} ${n * side + 26}`, style: `max-width:${left + n * side}px`, role: "group", "aria-label": `Similarities of the answers, as ${name} sees them` });
  for (let row = 0; row < n; row += 1) {
    if (side >= 14) drawn.append(svg("text", { x: left - 8, y: row * side + side / 2 + 4, "text-anchor": "end" }, labels[row]));
    if (side >= 14) drawn.append(svg("text", { x: left + row * side + side / 2, y: n * side + 18, "text-anchor": "middle", "aria-hidden": "true" }, row === 0 || n < 4 ? labels[row].slice(0, 9) : labels[row].replace(/^sample /, "")));
    for (let column = 0; column < n; column += 1) {
      const [x, y] = [left + column * side, row * side];
      if (row === column) {
        drawn.append(svg("rect", { class: "none", x, y, width: side - 1, height: side - 1 }));
        continue;
      }
      const [fill, ink] = coloursOf(valueAt(row, column));
      const cell = svg("g", { class: "cell", role: "img", "aria-label": said(row, column), tabindex: cells.length ? "-1" : "0", "data-at": `${row}-${column}` },
        svg("rect", { x, y, width: side - 1, height: side - 1, fill }),
        side >= 40 ? svg("text", { x: x + side / 2, y: y + side / 2 + 4, "text-anchor": "middle", style: `fill:${ink}` }, valueAt(row, column).toFixed(2)) : null);
      cells.push(cell);
      drawn.append(cell);
    }
  }
  const tell = (event) => {
    const cell = event.target.closest(".cell");
    if (cell) exact.textContent = cell.getAttribute("aria-label");
  };
  drawn.addEventListener("pointerover", tell);
  drawn.addEventListener("focusin", tell);
  drawn.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const from = event.target.closest(".cell");
    if (!step || !from) return;
    event.preventDefault();
    let [row, column] = from.dataset.at.split("-").map(Number);
    do { row += step[0]; column += step[1]; } while (row === column);
    const to = cells.find((cell) => cell.dataset.at === `${row}-${column}`);
    if (!to) return;
    from.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus();
  });
  return part(`Similarities, ${name}`, drawn, exact);
}

/* Which of the two is seen */

const title = document.title;
let scrolled = 0;

function route() {
  const found = /^#item=(\d+)$/.exec(location.hash);
  const place = found ? Number(found[1]) - 1 : -1;
  const view = byId("item");
  const wasOpen = !view.hidden;
  const isOpen = place >= 0 && place < items.length;
  if (isOpen && !wasOpen) scrolled = window.scrollY;
  byId("overview").hidden = byId("items").hidden = document.querySelector("body > header").hidden = isOpen;
  view.hidden = !isOpen;
  view.replaceChildren();
  if (isOpen) {
    const item = new ItemView(place);
    view.append(...item.nodes());
    if (item.readable.length) item.colour(item.readable[0]);
    document.title = `${shown(items[place].asked || items[place].id).slice(0, 60)} \u2013 ${title}`;
    window.scrollTo(0, 0);
    byId("item-heading").focus({ preventScroll: true });
  } else {
    document.title = title;
    if (wasOpen) {
      window.scrollTo({ top: scrolled, behavior: "instant" });
      byId("items").focus({ preventScroll: true });
    }
  }
}

window.addEventListener("hashchange", route);
refresh();
route();
