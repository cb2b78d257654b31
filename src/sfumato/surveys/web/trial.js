// A thousand made-up people: what is true, what they send, and what is estimated from it. Nothing of the respondent.
const Trial = (() => {
  const PEOPLE = 1000;
  const { say } = Visit;
  const by = (id) => document.getElementById(id);
  const { design } = JSON.parse(by("survey").textContent);
  const simple = design.questions.find((each) => each.oracle === "response" && each.kind !== "several-of");
  const COINS = { answers: [say("trial_yes"), "no"], oracle: "response", odds: ["3", "1"] };
  const question = simple ?? COINS;
  const first = question.answers[0];
  const [high, low] = question.odds.map(Number);
  const total = high + (Randomize.count(question) - 1) * low;
  const [agree, stray] = [high / total, low / total];
  const before = []; // earlier estimates, drawn faintly

  function draw(tag, about, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(about)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  }

  const percent = (share) => `${(100 * share).toFixed(1)}\u00a0%`;
  const short = (text) => (text.length > 24 ? `${text.slice(0, 23)}\u2026` : text);

  function ask() {
    const truth = Number(by("share").value);
    let said = 0;
    for (let person = 0; person < PEOPLE; person++)
      said += Randomize.send(question, person < truth ? 0 : 1, Randomize.below) === "0";
    const sent = said / PEOPLE;
    const found = (sent - stray) / (agree - stray);
    const error = (1.96 * Math.sqrt((sent * (1 - sent)) / PEOPLE)) / (agree - stray);
    picture(truth / PEOPLE, sent, found, error);
    const told = { truth: percent(truth / PEOPLE), sent: percent(sent), found: percent(found), error: percent(error) };
    by("trial-told").textContent = say("trial_told", told);
    before.push(found);
  }

  function picture(truth, sent, found, error) {
    const wide = Math.min(600, Math.max(220, by("chart").clientWidth)); // so that words keep their size on a phone
    const at = (share) => 80 + ((wide - 80) * (Math.min(1.1, Math.max(-0.1, share)) + 0.1)) / 1.2;
    const svg = draw("svg", { viewBox: `0 0 ${wide} 190`, role: "img", "aria-labelledby": "trial-told" });
    for (let tenth = 0; tenth <= 10; tenth += 2) {
      svg.append(draw("line", { class: "grid", x1: at(tenth / 10), x2: at(tenth / 10), y1: 10, y2: 158 }));
      svg.append(draw("text", { class: "tick", x: at(tenth / 10), y: 178, "text-anchor": "middle" }, `${tenth * 10}%`));
    }
    const rows = [[say("trial_true"), truth, "truth"], [say("trial_sent"), sent, "sent"], [say("trial_estimated"), found, "found"]];
    rows.forEach(([name, share, kind], i) => {
      const y = 34 + 50 * i;
      svg.append(draw("text", { x: 0, y: y + 5 }, name));
      if (kind !== "found") {
        svg.append(draw("rect", { class: kind, x: at(0), y: y - 9, width: at(share) - at(0), height: 18 }));
        return;
      }
      for (const each of before) svg.append(draw("circle", { class: "before", cx: at(each), cy: y + 14, r: 3.5 }));
      svg.append(draw("line", { class: "bar", x1: at(share - error), x2: at(share + error), y1: y, y2: y }));
      svg.append(draw("circle", { class: kind, cx: at(share), cy: y, r: 6 }));
      svg.append(draw("line", { class: "grid", x1: at(truth), x2: at(truth), y1: 25, y2: y + 18, "stroke-dasharray": "3 3" }));
    });
    by("chart").replaceChildren(svg);
  }

  const label = () => (by("share-out").textContent = say("trial_would_say", { count: by("share").value, answer: short(first) }));
  by("share").addEventListener("input", () => (label(), before.splice(0)));
  by("ask").addEventListener("click", ask);
  label();
  by("trial-words").textContent = simple
    ? say("trial_question", { question: question.text })
    : say("trial_coins");
  return Object.freeze({ ask });
})();
