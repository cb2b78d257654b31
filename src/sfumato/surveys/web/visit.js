// A respondent's visit: answers are read once, randomised once, and shown with what is sent. Nothing is sent unasked.
const Visit = (() => {
  const { design, hash, collect, period } = JSON.parse(document.getElementById("survey").textContent);
  const questions = design.questions.map((question, i) => ({ ...question, id: `q${i}` }));
  const by = (id) => document.getElementById(id);
  const KEY = `sfumato ${hash} ${period}`;
  const NOTHING = "(no answer)";
  let asked = questions;
  let report = null; // texts by name; set once, and what every button gives from then on

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

  // The place of an answer and its words; an error where it is none.
  function read(question) {
    const box = by(question.id);
    if (question.kind === "number") {
      const typed = box.querySelector("input").value.trim().replace("\u2212", "-");
      const text = /^[+-]?\d+,(\d{1,2}|\d{4,})$/.test(typed) ? typed.replace(",", ".") : typed; // some phones have no point
      if (!text) return { place: null, words: NOTHING };
      const place = text.length > 40 || text.includes("/") ? null : Randomise.placeOf(text, question);
      if (place === null)
        return { error: "Write one number within these bounds, with digits alone: no unit, and nothing between thousands." };
      return { place, words: text };
    }
    if (question.kind === "several-of") {
      const ticked = [...box.querySelectorAll("input:checked")].map((each) => each.value);
      if (!ticked.length) return { place: null, words: NOTHING };
      const place = ticked.filter((each) => each !== "none").map(Number);
      if (place.length > question.most) return { error: `Tick at most ${question.most}.` };
      if (place.length && ticked.includes("none")) return { error: "Tick answers, or none of these, not both." };
      return { place, words: place.map((each) => question.answers[each]).join("; ") || "none of these" };
    }
    const list = box.querySelector("select");
    const value = list ? list.value : (box.querySelector("input:checked") ?? { value: "" }).value;
    if (value !== "") return { place: Number(value), words: question.answers[Number(value)] };
    return { place: question.skip === "private" ? question.answers.length : null, words: NOTHING };
  }

  // What a text that is sent says, as far as it says anything by itself.
  function meaning(question, sent) {
    if (sent === "") return "empty: that you left it out is seen";
    const answers = question.skip === "private" ? [...question.answers, NOTHING] : question.answers;
    const ticked = (has) => answers.filter((_, i) => has(i)).join("; ") || "none";
    const bit = (i) => (parseInt(sent.slice(2 * (i >> 3), 2 * (i >> 3) + 2), 16) >> (i & 7)) & 1;
    switch (question.oracle) {
      case "response": return answers[Number(sent)];
      case "subset": return `one of these: ${ticked((i) => (BigInt(sent) >> BigInt(i)) & 1n)}`;
      case "unary":
      case "every-box": return ticked(bit);
      case "one-box": return `${answers[Number(sent) >> 1]}: ${Number(sent) & 1 ? "ticked" : "not ticked"}`;
      case "duchi": return sent === "1" ? "high" : "low";
      case "piecewise": return `a place from 0 to ${question.steps + question.width - 1}, around yours or anywhere`;
      case "laplace": return `place ${sent} on a scale from 0 to ${question.steps}, noise added`;
    }
    return "a number that fits several answers";
  }

  function show(answers) {
    by("rows").replaceChildren(...asked.map((question, i) => {
      const row = make("tr");
      const sent = make("td", "", { "data-is": "Sent" });
      sent.append(make("span", meaning(question, report[question.name]), { class: "means", dir: "auto" }));
      if (report[question.name]) sent.append(make("code", `as ${report[question.name]}`, { dir: "ltr" }));
      row.append(make("th", question.text, { scope: "row", dir: "auto" }));
      if (answers) row.append(make("td", answers[i].words, { class: "own", dir: "auto", "data-is": "You answered" }));
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

  function randomise() {
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
    if (empty && by("randomise").dataset.empty !== String(empty)) {
      by("randomise").dataset.empty = String(empty);
      const places = asked.length === 1 ? [] : answers.flatMap((each, i) => (each.place === null ? [i + 1] : []));
      const which = places.length ? ` (${places.join(", ")})` : "";
      const them = empty === 1 ? `One question is not answered${which}` : `${empty} questions are not answered${which}`;
      tell("amiss", `${them}. That you left ${empty === 1 ? "it" : "them"} out is not protected: it is sent as it is. Answer, or press the button again.`);
      return;
    }
    tell("amiss", "");
    if (again()) return; // another tab was faster
    const sent = new Map(asked.map((each, i) => [each.name, Randomise.send(each, answers[i].place, Randomise.below)]));
    const made = assemble((name) => sent.get(name) ?? "");
    if (period !== null) {
      try { // before anybody sees it: a reload must not draw again
        localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(sent)));
      } catch {
        refuse("This survey asks again later, and this browser cannot remember what it sent. Nothing was drawn or sent; please use another browser.");
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
    const visit = Randomise.below(1n << 64n).toString(16).padStart(16, "0");
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
      refuse("What this browser kept of its report cannot be read, and a second draw would give more away. Nothing is asked or sent.");
      return true;
    }
    if (!kept) return false;
    report = kept;
    asked = questions;
    by("questions").hidden = true;
    tell("drawn", "");
    clear();
    show(null);
    tell("again", "This device has answered in this period already. What it sent then is sent again, so that no second draw gives your answer away.", true);
    return true;
  }

  async function send() {
    const button = by("send");
    button.disabled = true;
    tell("told", "Sending \u2026", true);
    try {
      const answer = await fetch(collect, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(report),
        credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error",
      });
      if (!answer.ok) throw new Error(`the collector answered ${answer.status}`);
      tell("told", "Received. Thank you. You can close this page.", true);
      button.textContent = "Sent";
    } catch (error) {
      const why = error instanceof TypeError ? "the collector could not be reached" : error.message;
      tell("told", `Not confirmed: ${why}. Nothing is drawn anew: to send again sends the same report. You can also copy or download it.`);
      button.textContent = "Send again, the same report";
      button.disabled = false;
    }
  }

  async function copy() {
    by("line").select();
    try {
      await navigator.clipboard.writeText(by("line").value);
      tell("told", "Copied.", true);
    } catch {
      tell("told", "The line is marked: copy it by Ctrl + C, or by holding it.", true);
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
    tell("told", "Your answers are cleared. The report stays as it is.", true);
  }

  function listen() {
    by("randomise").addEventListener("click", randomise);
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
      asked = [Randomise.drawn(questions, Randomise.below)];
      for (const each of questions) by(each.id).hidden = each !== asked[0];
      tell("drawn", `One of ${questions.length} questions was drawn for you, by chance and on this device. Which one is seen.`, true);
    }
    for (const each of asked) by(each.id).disabled = false;
    by("act").hidden = false;
  }

  async function start() {
    if (typeof crypto !== "object" || typeof crypto.getRandomValues !== "function") {
      refuse("This browser has no secure chance to draw from. Nothing can be randomised, so nothing is asked; please use another browser.");
      return;
    }
    if (crypto.subtle) {
      if ((await Randomise.digest(design)) !== hash) {
        refuse("The questions on this page are not those of the published design: its digits differ. Please do not answer, and tell whoever runs the survey.");
        return;
      }
      by("checked").textContent = "Checked here: these digits are those of the questions above.";
    } else {
      by("checked").textContent = "Not checked here: this browser can do so for pages from a file or by https only.";
    }
    tell("refusal", "");
    listen();
    begin();
  }

  start().catch(() => refuse("Something unexpected happened, so this page has stopped. Nothing was sent."));
  return Object.freeze({ meaning, read });
})();
