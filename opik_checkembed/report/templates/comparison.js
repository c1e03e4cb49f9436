const { metrics, items } = read("index");
const holds = searched(items, (item) => [item.id, item.asked, ...item.answers]);

byId("metric").append(...metrics.map((metric, at) => el("option", { value: at }, metric.name)));

function change(item, metric, at) {
  const [before, after] = item.values[at];
  const [x, y] = [before, after].map((value) => (value === null ? "no score" : figure(value)));
  const difference = item.differences[at];
  const word = difference === null ? null : difference < 0 ? "worse" : difference > 0 ? "better" : "same";
  return el("span", {}, ...breakable(metric.name), ` ${x} \u2192 ${y}`, word === null ? null : [", ", el("span", { class: word === "worse" ? "alarm" : null }, word)]);
}

const pager = new Pager((places) => {
  byId("pairs").replaceChildren(...places.map((place) => {
    const item = items[place];
    const sides = ["Baseline", "Candidate"].map((name, side) => el("div", {},
      el("h4", {}, name),
      el("div", { class: "words", dir: "auto" }, item.answers[side] || "(no answer in the results)")));
    const reasons = metrics.flatMap((metric, at) => ["baseline", "candidate"].flatMap((name, side) => {
      const reason = item.reasons[at][side];
      return reason ? [el("dt", {}, ...breakable(metric.name), `, ${name}`), el("dd", { dir: "auto" }, reason)] : [];
    }));
    return el("li", {},
      el("p", { class: "kicker" }, "Item ", el("bdi", {}, item.id)),
      el("h3", { dir: "auto" }, item.asked || "(the item does not say what was asked)"),
      el("div", { class: "changes" }, metrics.map((metric, at) => change(item, metric, at))),
      el("div", { class: "pair-of" }, sides),
      reasons.length ? el("details", { class: "more" }, el("summary", {}, "Reasons"), el("dl", {}, reasons)) : null);
  }));
});

function refresh() {
  const words = byId("words").value.trim().toLowerCase();
  const by = Number(byId("metric").value);
  const rows = items.flatMap((_, place) => (words && !holds(place, words) ? [] : [place]));
  if (metrics.length) {
    // An item without a value on either side says nothing of the change, and comes last.
    const key = (place) => items[place].differences[by] ?? Infinity;
    rows.sort((a, b) => (key(a) === key(b) ? a - b : key(a) - key(b)));
  }
  const all = rows.length === items.length;
  byId("count").textContent = all ? counted(items.length, "item") : `${number.format(rows.length)} of ${counted(items.length, "item")}`;
  pager.show(rows);
}

byId("metric").closest("label").hidden = metrics.length < 2;
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("reset", () => setTimeout(refresh));
// Not "change" of the text, which comes when it loses the focus: an item that is then opened must stay.
byId("words").addEventListener("input", refresh);
byId("metric").addEventListener("change", refresh);
refresh();
