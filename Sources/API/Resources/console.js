// The operators' console. Everything that it shows comes from /v1/admin with the bearer that was typed in, which is kept in
// a variable and nowhere else. What comes is data: it becomes text and attributes, never markup.
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const locale = "en-GB";
  let token = "";
  let visit = new AbortController();

  // Elements.

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
    }
    element.append(...children.flat(3).filter((child) => child !== undefined && child !== null && child !== false));
    return element;
  }
  const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  // What strangers chose may try to turn the text around it.
  const foreign = (text) => el("bdi", { class: "foreign" }, text);
  const code = (text) => el("code", {}, text);
  const muted = (...children) => el("span", { class: "muted" }, ...children);
  const none = () => el("span", { class: "muted none" }, "–");
  const chip = (text, kind = "") => el("span", { class: "chip " + kind }, text);
  const counted = (number, one, many = one + "s") => `${number.toLocaleString(locale)} ${number === 1 ? one : many}`;

  function heading(title, ...beside) {
    // Names of people do not go into the browser's history.
    document.title = `${typeof title === "string" ? title : "Account"} · Bramley console`;
    return el("div", { class: "heading" }, el("h1", { tabindex: "-1" }, title), ...beside);
  }

  function panel(title, ...children) {
    const id = "panel-" + title.toLowerCase().replace(/[^a-z]+/g, "-");
    return el("section", { class: "panel", "aria-labelledby": id }, el("h2", { id }, title), ...children);
  }

  // Roles are spelled out because a phone shows rows as cards, which takes them away.
  function table(label, columns, rows, empty) {
    if (rows.length === 0) return el("p", { class: "empty" }, empty);
    const cell = (content, index) =>
      el("td", { role: "cell", "data-label": columns[index], class: typeof content === "number" ? "number" : null },
        typeof content === "number" ? content.toLocaleString(locale) : content);
    return el("table", { role: "table", "aria-label": label },
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" },
        columns.map((name) => el("th", { role: "columnheader", scope: "col" }, name)))),
      el("tbody", { role: "rowgroup" }, rows.map((row) => el("tr", { role: "row" }, row.map(cell)))));
  }

  const facts = (pairs) =>
    el("dl", { class: "facts" }, pairs.filter(([, value]) => value !== undefined && value !== false)
      .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));

  const pages = (view, here, next) => (here || next) && el("nav", { class: "pages", "aria-label": "Pages" },
    here && el("a", { href: view }, "First page"), next && el("a", { href: `${view}:${next}` }, "Next page"));

  // Times come as seconds since 1970.

  const local = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "long" });
  const units = [["year", 31556952], ["month", 2629746], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  // By the service's clock: this machine's may be another.
  let ahead = 0;
  const present = () => Math.floor(Date.now() / 1000) + ahead;

  function distance(seconds) {
    const away = seconds - present();
    // A day and a half is 36 hours, not one day.
    const [unit, length] = units.find(([, length]) => Math.abs(away) >= 2 * length) ?? units.at(-1);
    return Math.abs(away) < 5 ? "now" : relative.format(Math.round(away / length), unit);
  }
  function instant(seconds, text) {
    const moment = new Date(seconds * 1000);
    const utc = moment.toISOString().replace(".000Z", "Z");
    return el("time", { datetime: utc, title: utc.replace("T", " ").replace("Z", " UTC") }, text);
  }
  const date = (seconds) => instant(seconds, local.format(seconds * 1000));
  const age = (seconds) => instant(seconds, distance(seconds));
  const dated = (seconds) =>
    seconds === undefined ? undefined : el("span", { class: "dated" }, date(seconds), " ", muted(distance(seconds)));

  // Calls.

  class Refusal extends Error {
    constructor(message, reason, requestId) {
      super(message);
      Object.assign(this, { reason, requestId });
    }
  }
  // Nothing came back, which does not say that nothing was done.
  class Silence extends Error {}

  async function call(method, path, { body, signal } = {}) {
    const bearer = token;
    const headers = { Authorization: "Bearer " + bearer };
    if (body) headers["Content-Type"] = "application/json";
    let answer, json;
    try {
      answer = await fetch("v1/admin/" + path, {
        method, headers, signal, body: body && JSON.stringify(body), cache: "no-store", credentials: "omit",
        redirect: "error",
      });
      json = await answer.json();
    } catch (fault) {
      if (signal?.aborted) throw fault;
      throw new Silence("The service does not answer. Is it running, and is the way to it open?");
    }
    const told = Date.parse(answer.headers.get("Date"));
    if (told) ahead = Math.round((told - Date.now()) / 1000);
    if (answer.ok) return json;
    const detail = json.error?.details?.[0] ?? {};
    const text = (json.error?.message ?? `Status ${answer.status}.`).replace(/^[A-Z_]+ : /, "");
    const refusal = new Refusal(text, detail.reason, detail.requestId);
    // Of several calls at once the first one says it.
    if (answer.status === 401 && bearer === token) {
      lock("The service does not take this token" + (visit.isOpen ? " any more." : "."));
    }
    throw refusal;
  }

  const read = (path) => call("GET", path, { signal: visit.signal });
  const userPath = (id) => "users/" + encodeURIComponent(id);

  function faultText(fault) {
    const words = [fault.reason, fault.requestId && "request " + fault.requestId].filter(Boolean).join(", ");
    return words ? `${fault.message} (${words})` : String(fault.message);
  }

  // What was done, or was not, for eyes and ears.
  function tell(text, isFault = false) {
    byId("outcome").replaceChildren(...(text ? [el("p", { class: isFault ? "fault" : "done" }, text)] : []));
  }

  // Questions. The promise is whether the answer was yes.

  function ask({ title, effect, verb, typed }) {
    const [dialog, word, doIt] = ["ask", "ask-word", "ask-do"].map(byId);
    byId("ask-title").replaceChildren(...[title].flat());
    byId("ask-effect").replaceChildren(...effect.map((line) => el("p", {}, ...[line].flat())));
    byId("ask-typed").hidden = !typed;
    word.value = "";
    const isMeant = () => !typed || word.value === typed || word.value === "delete";
    word.oninput = () => { doIt.disabled = !isMeant(); };
    doIt.disabled = !isMeant();
    doIt.textContent = verb;
    return new Promise((resolve) => {
      let isYes = false;
      byId("ask-form").onsubmit = (event) => {
        event.preventDefault();
        isYes = isMeant();
        if (isYes) dialog.close();
      };
      byId("ask-cancel").onclick = () => dialog.close();
      dialog.onclose = () => resolve(isYes);
      dialog.showModal();
      (typed ? word : byId("ask-cancel")).focus();
    });
  }

  // Does something, once at a time, and says what came of it; then shows the view again, unless that is another by now.
  let isActing = false;
  async function act(question, work, then = show) {
    if (isActing || (question && !(await ask(question)))) return;
    const [bearer, place] = [token, location.hash];
    const isHere = () => token === bearer && location.hash === place;
    isActing = true;
    document.body.setAttribute("aria-busy", "true");
    let said, isFault = false;
    try {
      said = await work();
      if (isHere()) await then();
    } catch (fault) {
      isFault = true;
      said = fault instanceof Silence
        ? "Whether it was done is not known: no answer came. Look before you try again."
        : "Not done. " + faultText(fault);
      // What is shown may be as it was.
      if (fault instanceof Silence && isHere()) await show();
    } finally {
      isActing = false;
      document.body.removeAttribute("aria-busy");
    }
    if (token && token === bearer) tell(said, isFault);
  }
  const button = (text, kind, onclick) => el("button", { type: "button", class: kind, onclick }, text);

  // Overview.

  const perMinute = (minutes, since, now, value) => {
    const first = now - (now % 60) - 59 * 60;
    const found = new Map(minutes.map((minute) => [minute.at, value(minute)]));
    return Array.from({ length: 60 }, (_, index) => {
      const at = first + index * 60;
      return { at, counts: found.get(at) ?? [], isBefore: at + 60 <= since };
    });
  };
  const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
  const opened = (minute) => minute.newAccounts + minute.returning + minute.repeated;

  function chart(id, title, series, slots) {
    const peak = Math.max(1, ...slots.map((slot) => sum(slot.counts)));
    const idle = slots.filter((slot) => slot.isBefore).length;
    const bars = slots.map((slot, index) => {
      let top = 100;
      const parts = slot.counts.map((count, part) => {
        // What happened once in a busy hour has to be seen too.
        const height = count ? Math.max(2, (96 * count) / peak) : 0;
        top -= height;
        return count > 0 && svg("rect", { class: series[part].kind, x: index * 10 + 1, y: top, width: 8, height });
      });
      const words = series.map(({ name }, part) => `${slot.counts[part] ?? 0} ${name}`).join(", ");
      return svg("g", {}, svg("title", {}, `${clock.format(slot.at * 1000)}: ${words}`),
        svg("rect", { class: "slot", x: index * 10, y: 0, width: 10, height: 100 }), parts);
    });
    const busy = slots.filter((slot) => sum(slot.counts) > 0);
    return el("figure", { class: "chart" },
      el("figcaption", { id }, el("strong", {}, title),
        series.map(({ name, kind }) => el("span", { class: "key " + kind }, name)),
        idle > 0 && el("span", { class: "key idle" }, "not running"),
        muted(`top of the scale: ${peak.toLocaleString(locale)} a minute`)),
      svg("svg", { viewBox: "0 0 600 100", preserveAspectRatio: "none", role: "img", "aria-labelledby": id },
        svg("rect", { class: "idle", x: 0, y: 0, width: idle * 10, height: 100 }), bars),
      el("div", { class: "axis", "aria-hidden": "true" },
        [slots[0], slots[30], slots[59]].map(({ at }) => el("span", {}, clock.format(at * 1000)))),
      el("details", {}, el("summary", {}, "As a table"),
        table(title, ["Minute", ...series.map(({ name }) => name)],
          busy.map((slot) => [date(slot.at), ...series.map((_, part) => slot.counts[part] ?? 0)]).reverse(),
          "Nothing was counted in the last hour.")));
  }

  function refusals({ minutes, now }) {
    const found = new Map();
    for (const minute of minutes) {
      for (const [where, counts] of [["sign-in", minute.refusedSignIns], ["refresh", minute.refusedRefreshes]]) {
        for (const [reason, count] of Object.entries(counts)) {
          const row = found.get(where + reason) ?? { where, reason, hour: 0, recent: 0 };
          row.hour += count;
          if (minute.at > now - 300) row.recent += count;
          row.last = minute.at;
          found.set(where + reason, row);
        }
      }
    }
    const rows = [...found.values()].sort((a, b) => b.hour - a.hour || (a.reason < b.reason ? -1 : 1));
    return table("Refusals by reason", ["Reason", "Of a", "Last hour", "Last 5 min", "Last seen"],
      rows.map((row) => [code(row.reason), row.where, row.hour, row.recent, age(row.last)]),
      "Nothing was refused in the last hour.");
  }

  function queueTable({ apple, webhooks }) {
    const names = {
      exchange: "Codes to trade at Apple", revoke: "Tokens to revoke at Apple",
      exchange_then_revoke: "Codes to trade and revoke at Apple",
    };
    const oldest = (time) => (time === undefined ? none() : age(time));
    const state = (waiting) => {
      if (!apple.hasKey) return chip(waiting ? "waits for a key of Apple’s" : "off: no key of Apple’s", waiting ? "bad" : "");
      return waiting ? chip("waiting", "warm") : chip("empty", "good");
    };
    const looks = () => {
      if (!apple.hasKey) return chip("off: no key of Apple’s");
      if (apple.checksPausedUntil) return chip("paused by Apple", "warm");
      if (apple.nextCheckAt === undefined) return chip("nothing to look at");
      return apple.nextCheckAt < present() - 3600 ? chip("late", "bad") : chip("on time", "good");
    };
    const events = () => {
      if (webhooks.givenUp) return chip(`${webhooks.givenUp.toLocaleString(locale)} given up`, "bad");
      return webhooks.waiting ? chip("waiting", "warm") : chip("empty", "good");
    };
    return table("Queues", ["Queue", "Waiting", "Oldest", "State"], [
      ...apple.calls.map((queue) =>
        [names[queue.kind] ?? queue.kind, queue.waiting, oldest(queue.oldestAt), state(queue.waiting)]),
      ["Daily looks at Apple’s tokens", none(),
        apple.nextCheckAt === undefined ? none() : el("span", {}, "next ", age(apple.nextCheckAt)), looks()],
      ["Events for your back end", webhooks.waiting, oldest(webhooks.oldestAt), events()],
    ]);
  }

  async function overview() {
    const own = visit;
    const place = el("div", { class: "stack" });
    const note = el("p", { class: "muted", role: "status" }, "Of this node, renewed every ten seconds.");
    const draw = async () => {
      const [activity, queues] = await Promise.all([read("activity"), read("queues").catch((fault) => fault)]);
      // Whoever is copying something goes on.
      if (place.contains(getSelection().anchorNode) && !getSelection().isCollapsed) return;
      const opened = [...place.querySelectorAll("details")].map((part) => part.open);
      const focused = [...place.querySelectorAll("summary")].indexOf(document.activeElement);
      place.replaceChildren(...overviewParts(activity, queues));
      place.querySelectorAll("details").forEach((part, index) => { part.open = opened[index] ?? false; });
      place.querySelectorAll("summary")[focused]?.focus({ preventScroll: true });
    };
    const again = async (isStale) => {
      if (own.signal.aborted) return;
      let isStaleNow = isStale;
      try {
        if (document.visibilityState === "visible") {
          await draw();
          isStaleNow = false;
        }
      } catch (fault) {
        isStaleNow = true;
        if (!own.signal.aborted && !isStale) note.replaceChildren(chip("old figures", "bad"), " ", fault.message);
      }
      if (own.signal.aborted) return;
      if (isStale && !isStaleNow) note.textContent = "The service answers again.";
      setTimeout(again, 10000, isStaleNow);
    };
    await draw();
    setTimeout(again, 10000, false);
    return [heading("Overview", note), place];
  }

  function overviewParts(activity, queues) {
    const { minutes, since, now, checks } = activity;
    const total = (value) => minutes.reduce((all, minute) => all + value(minute), 0);
    const refused = (minute) => sum(minute.refusedSignIns) + sum(minute.refusedRefreshes);
    const missing = Object.entries({ database: "database", signingKey: "signing key", appleKeys: "Apple’s keys" })
      .filter(([name]) => !checks[name]).map(([, text]) => text);
    const tile = (name, value, note, kind = "") =>
      el("div", { class: "tile " + kind }, el("dt", {}, name), el("dd", {}, el("strong", {}, value), muted(note)));
    return [
      el("dl", { class: "tiles" },
        tile("Service", missing.length ? "Not ready" : "Ready",
          missing.length ? "missing: " + missing.join(", ") : ["since ", date(since)], missing.length ? "bad" : "good"),
        tile("Sign-ins", total(opened).toLocaleString(locale),
          "last hour, " + counted(total((minute) => minute.newAccounts), "new account")),
        tile("Refreshes", total((minute) => minute.refreshes).toLocaleString(locale), "last hour"),
        tile("Refused", total(refused).toLocaleString(locale), "last hour, sign-ins and refreshes")),
      panel("Activity",
        chart("chart-signins", "Sign-ins", [{ name: "signed in", kind: "one" }, { name: "refused", kind: "two" }],
          perMinute(minutes, since, now, (minute) => [opened(minute), sum(minute.refusedSignIns)])),
        chart("chart-refreshes", "Refreshes", [{ name: "refreshed", kind: "one" }, { name: "refused", kind: "two" }],
          perMinute(minutes, since, now, (minute) => [minute.refreshes, sum(minute.refusedRefreshes)]))),
      panel("Refusals", refusals(activity)),
      panel("Queues", queues instanceof Error
        ? el("p", { class: "empty" }, faultText(queues)) : queueTable(queues)),
    ];
  }

  // Accounts.

  const states = (user) => [
    user.disabled && chip("disabled", "bad"), user.anonymous && chip("anonymous"),
    user.credentialState === "revoked" && chip("consent revoked", "warm"),
    user.credentialState === "transferred" && chip("transferred", "warm"),
  ].filter(Boolean);
  const nameOf = (user) => (user.displayName ? foreign(user.displayName) : muted("no name"));
  const linkTo = (user, content) => el("a", { href: "#account:" + encodeURIComponent(user.localId) }, content);

  async function find(text) {
    const search = async (query) => (await read("users?" + new URLSearchParams(query))).users[0];
    // An id may look like an address.
    return (text.includes("@") && (await search({ email: text })))
      || (/^[!-~]{1,128}$/.test(text) && (await search({ id: text })))
      || (!text.includes("@") && search({ providerId: "apple.com", subject: text }));
  }

  function searchForm() {
    const field = el("input", { id: "search", type: "search", required: true, autocomplete: "off", spellcheck: "false",
      autocapitalize: "off", placeholder: "id, e-mail address or Apple subject" });
    const onsubmit = async (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (!text) return;
      try {
        const user = await find(text);
        if (user) location.hash = "account:" + encodeURIComponent(user.localId);
        else tell("Nobody has that id, address or subject. Each is looked for as a whole, an address in Apple's capitals.", true);
      } catch (fault) {
        if (fault.name !== "AbortError" && token) tell(faultText(fault), true);
      }
    };
    return el("form", { class: "search", role: "search", onsubmit },
      el("label", { for: "search" }, "Find an account"), field, el("button", { type: "submit" }, "Find"));
  }

  async function accounts(cursor) {
    const page = await read("users?order=newest&limit=50" + (cursor ? "&cursor=" + encodeURIComponent(cursor) : ""));
    const rows = page.users.map((user) => [
      el("span", { class: "who" }, linkTo(user, nameOf(user)), user.email && muted(foreign(user.email))),
      el("code", { class: "id" }, user.localId),
      states(user).length ? el("span", { class: "chips" }, states(user)) : muted("active"),
      age(user.createdAt), user.lastSignInAt === undefined ? muted("never") : age(user.lastSignInAt),
    ]);
    return [
      heading("Accounts"), searchForm(),
      el("section", { class: "panel flush", "aria-label": "List" },
        table("Accounts", ["Person", "Id", "State", "Created", "Last sign-in"], rows,
          cursor ? "That was the last account." : ["Nobody has signed in yet. An account is made by the first sign-in at ",
            code("POST /v1/signInWithIdp"), "."])),
      pages("#accounts", cursor, page.cursor),
    ];
  }

  // One account.

  async function account(id) {
    const [user, lines] = await Promise.all([read(userPath(id)), newest(0, 50, id).catch((fault) => fault)]);
    return [
      el("p", { class: "crumb" }, el("a", { href: "#accounts" }, "Accounts")),
      heading(user.displayName ? nameOf(user) : "Account without a name", el("span", { class: "chips" }, states(user))),
      el("div", { class: "columns" },
        panel("Person", facts([
          ["Id", code(user.localId)],
          ["E-mail", user.email && el("span", {}, foreign(user.email), " ", el("span", { class: "chips" },
            chip(user.emailVerified ? "verified" : "not verified", user.emailVerified ? "good" : ""),
            user.isPrivateEmail && chip("relay"), !user.isEmailDeliverable && chip("mail stopped", "warm")))],
          ["Full name", user.fullName && foreign(user.fullName)],
          ["Created", dated(user.createdAt)], ["Last sign-in", dated(user.lastSignInAt) ?? muted("never")],
          ["Claims", user.customClaims && code(JSON.stringify(user.customClaims))],
        ])),
        panel("At Apple", appleFacts(user))),
      actionPanel(user), sessionPanel(user),
      panel("Audit", lines instanceof Error ? el("p", { class: "empty" }, faultText(lines)) : auditTable(lines.entries, true),
        lines.entries?.length === 50 && el("p", { class: "note" },
          "The last fifty lines; ", code(`bramley audit list --account ${id}`), " has the others.")),
    ];
  }

  function appleFacts(user) {
    const words = {
      authorized: chip("authorized", "good"), revoked: chip("revoked", "warm"), transferred: chip("transferred", "warm"),
      notFound: chip("no identity at Apple"),
    };
    const real = ["not supported", "unknown", "likely real"][user.realUserStatus];
    return facts([
      ["Consent", words[user.credentialState] ?? chip(user.credentialState)],
      ...user.identities.flatMap((identity) => [
        [identity.providerId === "apple.com" ? "Subject" : identity.providerId, code(identity.subject)],
        ["Formerly", identity.formerSubject && code(identity.formerSubject)],
      ]),
      ["Real person", real],
      ...(user.appleTokens.length ? user.appleTokens : [null]).map((kept) => ["Apple token", kept === null
        ? muted("none is kept")
        : el("span", {}, "kept for ", code(kept.clientId), muted(
          kept.checkedAt === undefined ? " · not looked at yet" : [" · good ", age(kept.checkedAt)],
          " · next look ", age(kept.nextCheckAt)))]),
    ]);
  }

  function sessionPanel(user) {
    const path = userPath(user.localId) + "/sessions";
    const deviceOf = ({ device, sessionId }) =>
      [device?.name ?? device?.model ?? "device not named", "session " + sessionId.slice(0, 8)];
    const end = (session) => act({
      title: "End this session?", verb: "End session",
      effect: [[foreign(deviceOf(session)[0]), ", ", deviceOf(session)[1]],
        "The device is signed out at once: its tokens are refused from now on. The person can sign in again."],
    }, async () => {
      await call("DELETE", path + "/" + session.sessionId);
      return "The session has ended.";
    });
    const rows = user.sessions.slice(0, 100).map((session) => [
      session.device
        ? el("span", { class: "who" }, foreign(session.device.name ?? session.device.model ?? "device"),
          muted(foreign([session.device.model, session.device.os, session.device.appVersion].filter(Boolean).join(" · "))))
        : muted("device not named"),
      el("code", { title: session.sessionId }, session.sessionId.slice(0, 8)), age(session.createdAt), age(session.lastUsedAt), age(session.expiresAt),
      fill(button("End", "small", () => end(session)), { "aria-label": "End: " + deviceOf(session).join(", ") }, []),
    ]);
    return panel("Sessions", table("Sessions", ["Device", "Session", "Opened", "Last used", "Ends", ""], rows,
      "No session is open. The person has to sign in again to use the app."),
    user.sessions.length > rows.length && el("p", { class: "note" },
      `${rows.length} of ${counted(user.sessions.length, "session")}; `, code(`bramley users show ${user.localId}`), " has all."));
  }

  function actionPanel(user) {
    const path = userPath(user.localId);
    const change = (disabled, said) => async () => {
      await call("PATCH", path, { body: { disabled } });
      return said;
    };
    const name = user.displayName ? foreign(user.displayName) : code(user.localId);
    const disable = {
      title: ["Disable ", name.cloneNode(true), "?"], verb: "Disable account",
      effect: ["Its tokens are refused at once, and nobody can sign in to it.",
        "No session ends: when you enable it again, its devices go on."],
    };
    const endAll = {
      title: ["End all sessions of ", name.cloneNode(true), "?"], verb: "End all sessions",
      effect: [`${counted(user.sessions.length, "device is", "devices are")} signed out at once. The person can sign in again.`],
    };
    const remove = {
      title: ["Delete ", name.cloneNode(true), "?"], verb: "Delete account", typed: user.localId,
      effect: ["Everything that is known of the person goes, all sessions end, and what is kept of Apple’s is revoked there.",
        "This cannot be undone.", code(user.localId)],
    };
    return panel("Actions", el("div", { class: "actions" },
      user.disabled
        ? button("Enable account", "", () => act(null, change(false, "The account is enabled.")))
        : button("Disable account…", "", () => act(disable, change(true, "The account is disabled."))),
      user.sessions.length > 0 && button("End all sessions…", "", () => act(endAll, async () => {
        const { ended } = await call("DELETE", path + "/sessions");
        return `${counted(ended, "session has", "sessions have")} ended.`;
      })),
      button("Delete account…", "danger", () => act(remove, async () => {
        await call("DELETE", path);
        return `The account ${user.localId} is deleted.`;
      }, () => {
        // Going back leads to no account that is gone.
        history.replaceState(null, "", "#accounts");
        return show();
      }))));
  }

  // Keys and audit.

  async function keys() {
    const book = await read("keys");
    const kinds = { active: chip("signs", "good"), standby: chip("next"), retired: chip("retired", "muted") };
    const fate = (key) => {
      if (key.role === "standby") return ["may sign ", age(key.readyAt)];
      if (key.role === "retired") return ["no longer published ", age(key.publishedUntil)];
      return book.nextRotationAt === undefined ? "no rotation planned" : ["gives way ", age(book.nextRotationAt)];
    };
    const uses = ["liveSessions", "appleSecrets", "auditEnds"].map((name) => book[name + "ByMasterKey"]);
    const masters = new Set(book.signingKeys.map((key) => key.masterKey).concat(uses.flatMap((counts) => Object.keys(counts))));
    return [
      heading("Keys"),
      panel("Signing keys", table("Signing keys", ["State", "Algorithm", "Key id", "Created", "Signs since", "Then"],
        book.signingKeys.map((key) => [kinds[key.role], key.alg, el("code", { class: "id" }, key.kid), dated(key.createdAt),
          dated(key.activeSince) ?? none(), el("span", {}, fate(key))]))),
      panel("Master keys", table("Master keys", ["Key", "Live sessions", "Apple’s secrets", "Ends of the audit", "Signing keys"],
        [...masters].sort().map((id) => [code(id), ...uses.map((counts) => counts[id] ?? 0),
          book.signingKeys.filter((key) => key.masterKey === id).length]))),
      el("p", { class: "note" }, "Keys are changed by ", code("bramley keys rotate"), ", ", code("revoke"), " and ",
        code("rewrap"), ", on the machine that has the database."),
    ];
  }

  const newest = (before, limit, account) => read("audit?" + new URLSearchParams({
    before: before || Number.MAX_SAFE_INTEGER, limit, ...(account && { account }),
  }));

  function auditTable(lines, isOfOne) {
    const whose = (line) => (line.account
      ? linkTo({ localId: line.account }, el("code", { class: "id" }, line.account)) : none());
    return table("Audit", ["When", "What", "By", !isOfOne && "Account", "From", "Detail"].filter(Boolean),
      lines.map((line) => [
        instant(line.at, exact.format(line.at * 1000)), code(line.action), foreign(line.actor), !isOfOne && whose(line),
        line.address ? code(line.address) : none(),
        line.detail || line.session ? el("span", { title: line.requestId && "request " + line.requestId },
          line.detail && foreign(line.detail), line.detail && line.session && " · ",
          line.session && ["session ", code(line.session.slice(0, 8))]) : none(),
      ].filter(Boolean)), isOfOne ? "Nothing is written down of this account." : "Nothing is written down here.");
  }

  async function audit(before) {
    const { entries, cursor } = await newest(before, 100);
    return [
      heading("Audit", el("p", { class: "muted" }, "Newest first.")),
      el("section", { class: "panel flush", "aria-label": "Lines" }, auditTable(entries, false)),
      pages("#audit", before, entries.length === 100 && cursor),
      el("p", { class: "note" }, "That no line was changed or taken away, ", code("bramley audit verify"), " tells."),
    ];
  }

  // From view to view.

  const views = { overview, accounts, account, keys, audit };

  function wanted() {
    const [, name, argument] = /^#?([a-z]*):?(.*)$/s.exec(location.hash);
    let text = "";
    try { text = decodeURIComponent(argument); } catch { /* It names nothing. */ }
    return Object.hasOwn(views, name) ? [name, text] : ["overview", ""];
  }

  async function show() {
    visit.abort();
    const own = visit = Object.assign(new AbortController(), { isOpen: visit.isOpen });
    const [name, argument] = wanted();
    const main = byId("main");
    main.setAttribute("aria-busy", "true");
    tell("");
    let parts;
    try {
      parts = await views[name](argument);
      own.isOpen = true;
    } catch (fault) {
      if (own.signal.aborted || !token) return;
      parts = [heading("Not shown"), el("div", { class: "panel fault", role: "alert" },
        el("p", {}, faultText(fault)), button("Try again", "", show))];
    }
    if (own.signal.aborted) return;
    main.replaceChildren(...parts.filter(Boolean));
    main.removeAttribute("aria-busy");
    byId("locked").hidden = true;
    byId("bar").hidden = false;
    for (const link of document.querySelectorAll("#bar nav a")) {
      const isHere = link.hash === "#" + (name === "account" ? "accounts" : name);
      if (isHere) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    scrollTo(0, 0);
    main.querySelector("h1").focus({ preventScroll: true });
  }

  function lock(why = "") {
    token = "";
    visit.abort();
    visit = new AbortController();
    if (byId("ask").open) byId("ask").close();
    for (const id of ["ask-title", "ask-effect"]) byId(id).replaceChildren();
    byId("ask-word").value = "";
    // What is in the address may be somebody's.
    if (why === "" && location.hash.includes(":")) history.replaceState(null, "", "#overview");
    document.title = "Bramley console";
    byId("main").replaceChildren();
    byId("main").removeAttribute("aria-busy");
    tell("");
    byId("bar").hidden = true;
    byId("locked").hidden = false;
    byId("unlock").reset();
    byId("refusal").textContent = why;
    byId("token").focus();
  }

  byId("unlock").addEventListener("submit", async (event) => {
    event.preventDefault();
    const typed = byId("token").value.trim();
    byId("refusal").textContent = "";
    // A header has room for nothing else, and no token has anything else.
    if (!/^[\x21-\x7e]+$/.test(typed)) return lock("The service does not take this token.");
    token = typed;
    const chief = byId("unlock").querySelector("button");
    chief.disabled = true;
    await show();
    chief.disabled = false;
    if (token) byId("token").value = "";
  });
  byId("lock").addEventListener("click", () => lock());
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.querySelector("#main h1, #locked-title").focus();
  });
  addEventListener("hashchange", () => {
    // A question is of the view that is gone.
    byId("ask").close();
    if (token) show();
  });
  // The view that is there already is read again.
  byId("bar").addEventListener("click", (event) => {
    if (token && event.target.closest("a")?.hash === location.hash) show();
  });
  addEventListener("pagehide", () => lock());
  byId("token").focus();
})();
