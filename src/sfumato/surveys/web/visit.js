// A respondent's visit: answers are read once, randomized once, and shown with what is sent. Nothing is sent unasked.
const Visit = (() => {
  const { design, hash, collect, period, words } = JSON.parse(document.getElementById("survey").textContent);
  const questions = design.questions.map((question, i) => ({ ...question, id: `q${i}` }));
  const by = (id) => document.getElementById(id);
  const KEY = `sfumato ${hash} ${period}`;
  const NOTHING = words.no_answer;
  const isFromRight = document.documentElement.dir === "rtl";
  let asked = questions;
  let report = null; // texts by name; set once, and what every button gives from then on

  // A phrase of the page with its parts filled in, each of which keeps its own direction.
  function say(key, parts = {}) {
    return words[key].replace(/\{([a-z]+)\}/g, (_, name) => (isFromRight ? `\u2068${parts[name]}\u2069` : `${parts[name]}`));
  }

  function make(tag, text = "", about = {}) {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [name, value] of Object.entries(about)) made.setAttribute(name, value);
    return made;
  }

  function tell(id, text, isGood = false) {
    by(id).textContent = text;
    by(id).hidden = !text;
    by(id).classList.toggle("good", isGood);
  }

  function refuse(why) {
    tell("refusal", why);
    for (const each of questions) by(each.id).disabled = true;
    by("act").hidden = true;
  }

  // The digits of Arabic and Persian, and their point, as 0 to 9 and a point.
  const inDigits = (text) => text.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (each) => each.charCodeAt(0) & 15).replace("\u066b", ".");

  // The place of an answer and its words; an error where it is none.
  function read(question) {
    const box = by(question.id);
    if (question.kind === "number") {
      const typed = inDigits(box.querySelector("input").value.trim()).replace("\u2212", "-");
      const text = /^[+-]?\d+,(\d{1,2}|\d{4,})$/.test(typed) ? typed.replace(",", ".") : typed; // some phones have no point
      if (!text) return { place: null, words: NOTHING };
      const place = text.length > 40 || text.includes("/") ? null : Randomize.placeOf(text, question);
      if (place === null)
        return { error: say("number_amiss") };
      return { place, words: text };
    }
    if (question.kind === "several-of") {
      const ticked = [...box.querySelectorAll("input:checked")].map((each) => each.value);
      if (!ticked.length) return { place: null, words: NOTHING };
      const place = ticked.filter((each) => each !== "none").map(Number);
      if (place.length > question.most) return { error: say("too_many", { most: question.most }) };
      if (place.length && ticked.includes("none")) return { error: say("tick_or_none") };
      return { place, words: place.map((each) => question.answers[each]).join("; ") || say("none_of_these") };
    }
    const list = box.querySelector("select");
    const value = list ? list.value : (box.querySelector("input:checked") ?? { value: "" }).value;
    if (value !== "") return { place: Number(value), words: question.answers[Number(value)] };
    return { place: question.skip === "private" ? question.answers.length : null, words: NOTHING };
  }

  // What a text that is sent says, as far as it says anything by itself.
  function meaning(question, sent) {
    if (sent === "") return say("sent_empty");
    const answers = question.skip === "private" ? [...question.answers, NOTHING] : question.answers;
    const ticked = (has) => answers.filter((_, i) => has(i)).join("; ") || say("sent_none");
    const bit = (i) => (parseInt(sent.slice(2 * (i >> 3), 2 * (i >> 3) + 2), 16) >> (i & 7)) & 1;
    switch (question.oracle) {
      case "response": return answers[Number(sent)];
      case "subset": return say("sent_one_of", { answers: ticked((i) => (BigInt(sent) >> BigInt(i)) & 1n) });
      case "unary":
      case "every-box": return ticked(bit);
      case "one-box": return say(Number(sent) & 1 ? "sent_ticked" : "sent_not_ticked", { answer: answers[Number(sent) >> 1] });
      case "duchi": return say(sent === "1" ? "sent_high" : "sent_low");
      case "piecewise": return say("sent_near", { last: question.steps + question.width - 1 });
      case "laplace": return say("sent_noise", { sent, last: question.steps });
    }
    return say("sent_several");
  }

  function show(answers) {
    by("rows").replaceChildren(...asked.map((question, i) => {
      const row = make("tr");
      const sent = make("td", "", { "data-is": say("sent") });
      sent.append(make("span", meaning(question, report[question.name]), { class: "means", dir: "auto" }));
      if (report[question.name]) sent.append(make("code", say("sent_as", { sent: report[question.name] }), { dir: "auto" }));
      row.append(make("th", question.text, { scope: "row", dir: "auto" }));
      if (answers) row.append(make("td", answers[i].words, { class: "own", dir: "auto", "data-is": say("you_answered") }));
      row.append(sent);
      return row;
    }));
    if (!answers) for (const each of document.querySelectorAll(".own")) each.hidden = true;
    by("line").value = JSON.stringify(report);
    by("report").hidden = false;
    by("line").style.height = `${by("line").scrollHeight + 2}px`;
    by("act").hidden = true;
    for (const each of questions) by(each.id).disabled = true;
  }

  function randomize() {
    if (report) return;
    const answers = asked.map(read);
    asked.forEach((question, i) => {
      tell(`${question.id}-error`, answers[i].error ?? "");
      by(question.id).querySelector("input[type=text]")?.setAttribute("aria-invalid", String(!!answers[i].error));
    });
    const wrong = answers.findIndex((each) => each.error);
    if (wrong >= 0) {
      tell("amiss", "");
      by(asked[wrong].id).querySelector("input, select").focus();
      return;
    }
    const empty = answers.filter((each) => each.place === null).length;
    if (empty && by("randomize").dataset.empty !== String(empty)) {
      by("randomize").dataset.empty = String(empty);
      const places = asked.length === 1 ? [] : answers.flatMap((each, i) => (each.place === null ? [i + 1] : []));
      const one = places.length ? "left_this" : "left_one";
      tell("amiss", say(empty === 1 ? one : "left_several", { count: empty, which: places.join(", ") }));
      return;
    }
    tell("amiss", "");
    if (again()) return; // another tab was faster
    const sent = new Map(asked.map((each, i) => [each.name, Randomize.send(each, answers[i].place, Randomize.below)]));
    const made = assemble((name) => sent.get(name) ?? "");
    if (period !== null) {
      try { // before anybody sees it: a reload must not draw again
        localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(sent)));
      } catch {
        refuse(say("no_memory"));
        return;
      }
    }
    report = made;
    show(answers);
    by("report-title").focus();
    by("report").scrollIntoView();
  }

  // Beside the texts stand the design, and a number of this visit alone, so that a report which arrives twice counts once.
  function assemble(text) {
    const visit = Randomize.below(1n << 64n).toString(16).padStart(16, "0");
    const beside = [["design", hash.slice(0, 16)], ["respondent", visit]];
    return Object.freeze(Object.fromEntries([...beside, ...questions.map(({ name }) => [name, text(name)])]));
  }

  // What was sent in this period, if anything was. What is there and cannot be read is no leave to draw anew.
  function remembered() {
    let text = null;
    try {
      text = localStorage.getItem(KEY);
    } catch {
      return null; // nothing can be kept either, and then nothing is drawn
    }
    const kept = text === null ? null : JSON.parse(text);
    if (text !== null && (kept === null || typeof kept !== "object")) throw new Error("no report");
    return kept && assemble((name) => String(kept[name] ?? ""));
  }

  // Show what was sent in this period, if anything was, and whether it was.
  function again() {
    let kept = null;
    try {
      kept = period === null ? null : remembered();
    } catch {
      refuse(say("broken_memory"));
      return true;
    }
    if (!kept) return false;
    report = kept;
    asked = questions;
    by("questions").hidden = true;
    tell("drawn", "");
    clear();
    show(null);
    tell("again", say("again"), true);
    return true;
  }

  async function send() {
    const button = by("send");
    button.disabled = true;
    tell("told", say("sending"), true);
    try {
      const answer = await fetch(collect, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(report),
        credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error",
      });
      if (!answer.ok) throw new Error(say("not_confirmed", { status: answer.status }));
      tell("told", say("received"), true);
      button.textContent = say("sent_button");
    } catch (error) {
      tell("told", error instanceof TypeError ? say("not_reached") : error.message);
      button.textContent = say("send_again");
      button.disabled = false;
    }
  }

  async function copy() {
    by("line").select();
    try {
      await navigator.clipboard.writeText(by("line").value);
      tell("told", say("copied"), true);
    } catch {
      tell("told", say("copy_by_hand"), true);
    }
  }

  function download(text, kind, ending) {
    const link = make("a", "", { download: `report-${hash.slice(0, 16)}.${ending}` });
    link.href = URL.createObjectURL(new Blob([text], { type: kind }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const csv = () => `${Object.keys(report).join(",")}\r\n${Object.values(report).join(",")}\r\n`;

  function clear() {
    for (const each of document.querySelectorAll("#questions input, #questions select"))
      if (each.matches("[type=radio], [type=checkbox]")) each.checked = false;
      else each.value = "";
    if (report) for (const each of document.querySelectorAll(".own")) each.remove();
  }

  function forget() {
    clear();
    tell("told", say("cleared"), true);
  }

  function listen() {
    by("randomize").addEventListener("click", randomize);
    by("copy").addEventListener("click", copy);
    by("download-json").addEventListener("click", () => download(`${JSON.stringify(report)}\n`, "application/json", "json"));
    by("download-csv").addEventListener("click", () => download(csv(), "text/csv", "csv"));
    by("forget").addEventListener("click", forget);
    by("send")?.addEventListener("click", send);
    by("print")?.addEventListener("click", () => print());
    addEventListener("pagehide", clear); // whoever goes back to this page finds no answers
    for (const each of document.querySelectorAll("input[type=checkbox]"))
      each.addEventListener("change", () => { // none of these, or some of them
        if (!each.checked) return;
        for (const other of by(each.name).querySelectorAll("input"))
          if ((other.value === "none") !== (each.value === "none")) other.checked = false;
      });
  }

  function begin() {
    if (again()) return;
    if (design.ask === "one" && questions.length > 1) {
      asked = [Randomize.drawn(questions, Randomize.below)];
      for (const each of questions) by(each.id).hidden = each !== asked[0];
      tell("drawn", say("drawn", { count: questions.length }), true);
    }
    for (const each of asked) by(each.id).disabled = false;
    by("act").hidden = false;
  }

  async function start() {
    if (typeof crypto !== "object" || typeof crypto.getRandomValues !== "function") {
      refuse(say("no_chance"));
      return;
    }
    if (crypto.subtle) {
      if ((await Randomize.digest(design)) !== hash) {
        refuse(say("other_design"));
        return;
      }
      by("checked").textContent = say("checked");
    } else {
      by("checked").textContent = say("unchecked");
    }
    tell("refusal", "");
    listen();
    begin();
  }

  start().catch(() => refuse(say("stopped")));
  return Object.freeze({ meaning, read, say });
})();
