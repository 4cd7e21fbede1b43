"""Uses the operators' console in a real browser, as somebody with a keyboard, a mouse or a phone does.

usage: console.py SCENE URL FOLDER

URL is the service's that has the console. Standard input is one JSON object with what the scene has to know: the `token`,
and whom it is about. Prints what was seen as one JSON object. Pictures of what it saw last go to FOLDER.
"""

import json
import os
import signal
import sys
import urllib.error
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

scene, url, folder = sys.argv[1:]
known = json.load(sys.stdin)

WATCH = """
window.violations = [];
window.ran = [];
addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI));
// Time goes twenty times as fast, so that what is done every ten seconds is done here too.
const later = window.setTimeout;
window.setTimeout = (work, milliseconds, ...rest) => later(work, milliseconds / 20, ...rest);
window.calls = 0;
const call = window.fetch;
window.fetch = (...what) => { calls += 1; return call(...what); };
for (const name of ["alert", "confirm", "prompt"]) window[name] = (text) => { ran.push(name + " " + text); };
"""

# Contrast by WCAG 2.2, of every text that is seen, against all that is painted below it.
CONTRAST = r"""
const parse = (text) => {
  const numbers = text.match(/-?[\d.]+(e-?\d+)?/g).map(Number);
  const scale = text.startsWith("color(") ? 1 : 255;
  return { rgb: numbers.slice(0, 3).map((number) => number / scale), alpha: numbers[3] ?? 1 };
};
const over = (top, bottom) => top.rgb.map((value, index) => value * top.alpha + bottom[index] * (1 - top.alpha));
const below = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
  return layers.reduceRight((bottom, layer) => over(layer, bottom), [1, 1, 1]);
};
const light = (rgb) => {
  const [r, g, b] = rgb.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const faults = [];
let count = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || element.closest("button:disabled, svg, .unseen, .skip, noscript")) continue;
  if (!element.checkVisibility()) continue;
  const ground = below(element);
  const [a, b] = [light(over(parse(getComputedStyle(element).color), ground)), light(ground)];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  count += 1;
  if (ratio < 4.5) faults.push(`${ratio.toFixed(2)} ${walker.currentNode.data.trim().slice(0, 40)}`);
}
return { count, faults };
"""

# What sticks out of the window, or out of the part that it belongs to.
OVERFLOW = """
// A phone's window grows with what sticks out of the page, so that it is no measure.
const width = document.documentElement.clientWidth;
const wide = [...document.querySelectorAll("main *, #locked *")].filter((element) =>
  element.checkVisibility() && !element.closest("svg, thead") && element.getBoundingClientRect().right > width + 0.5);
const page = document.documentElement.scrollWidth > width ? ["the page"] : [];
return page.concat(wide.map((element) => element.tagName + " " + element.textContent.slice(0, 40)));
"""

options = webdriver.ChromeOptions()
options.binary_location = "/usr/bin/chromium"
for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile-{scene}"]:
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
browser = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
wait = WebDriverWait(browser, 60, ignored_exceptions=[StaleElementReferenceException])


def one(selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def texts(selector, place=None):
    """At one moment: what is shown may be renewed at the next."""
    return browser.execute_script(
        "return [...(arguments[1] ?? document).querySelectorAll(arguments[0])].filter((e) => e.checkVisibility())"
        ".map((e) => e.innerText.trim())", selector, place)


def text(selector):
    return " ".join(texts(selector))


def until(holds):
    return wait.until(lambda _: holds())


def button(name, place="main"):
    return until(lambda: next((b for b in browser.find_elements(By.CSS_SELECTOR, place + " button") if b.text == name), None))


def opens(fragment=""):
    browser.get("about:blank")
    browser.get(url + "/console" + fragment)
    until(lambda: one("#token").is_displayed())


def unlock(token):
    one("#token").clear()
    one("#token").send_keys(token)
    one("#unlock button").click()


def shown(title=None):
    """Waits for a view to be complete."""
    until(lambda: browser.find_elements(By.CSS_SELECTOR, "main:not([aria-busy]) h1"))
    if title:
        until(lambda: text("main h1") == title)


def go(fragment, title=None):
    browser.execute_script("document.querySelector('main').setAttribute('aria-busy', ''); location.hash = arguments[0]", fragment)
    shown(title)


def said():
    """What the live region says, once it says something."""
    return until(lambda: text("#outcome"))


def rows(label):
    return browser.execute_script(
        "return [...document.querySelectorAll(`table[aria-label='${arguments[0]}'] tbody tr`)]"
        ".map((row) => [...row.cells].map((cell) => cell.innerText.trim()))", label)


def emulate(width, scheme="light"):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def answered(token, path="activity"):
    request = urllib.request.Request(f"{url}/v1/admin/{path}", headers={"Authorization": "Bearer " + token})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        return refusal.code


def kept():
    """Where a browser can keep things, and what holds the token there."""
    places = browser.execute_script(
        "return [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage), location.href, "
        "JSON.stringify(history.state), document.documentElement.outerHTML, "
        "[...document.querySelectorAll('input')].map((input) => input.value).join()]")
    return [place for place in places if known["token"] in place]


def unlocking():
    seen = {}
    opens()
    seen["focused"] = browser.execute_script("return document.activeElement.id")
    for wrong in ["a-token-of-nobody-at-all", "tökén – of – nobody"]:
        unlock(wrong)
        until(lambda: text("#refusal"))
        seen["refused"] = text("#refusal")
        seen["shownThen"] = text("main")
    unlock(known["token"])
    shown("Overview")
    seen["lockedThen"] = one("#locked").is_displayed()
    seen["kept"] = kept()
    browser.refresh()
    until(lambda: one("#token").is_displayed())
    seen["afterReload"] = text("main")
    unlock(known["token"])
    shown("Overview")
    one("#lock").click()
    until(lambda: one("#token").is_displayed())
    seen["afterLock"] = text("main")
    # Longer than the page waits before it asks for new figures.
    seen["askedAfterLock"] = browser.execute_async_script(
        "const [done] = arguments; const before = calls; setTimeout(() => done(calls - before), 10001)")
    # Somebody takes the token away while it is in use.
    unlock(known["token"])
    shown("Overview")
    with open(known["settings"], "w") as settings:
        settings.write("admin_token: another-token-of-an-administrator\n")
    os.kill(known["pid"], signal.SIGHUP)
    # The page finds out when it asks for new figures, by two calls at once.
    until(lambda: text("#refusal"))
    seen["takenAway"] = text("#refusal")
    seen["afterTaking"] = text("main")
    unlock("another-token-of-an-administrator")
    shown("Overview")
    return seen


def administering():
    seen = {}
    opens("#accounts")
    unlock(known["token"])
    shown("Accounts")
    seen["listed"] = [row[1] for row in rows("Accounts")]

    def find(words):
        if text("main h1") != "Accounts":
            go("accounts", "Accounts")
        one("#search").clear()
        one("#search").send_keys(words)
        button("Find").click()

    find("nobody@example.com")
    seen["nobody"] = said()
    seen["found"] = []
    for words in [known["email"], known["subject"], known["id"]]:
        find(words)
        shown(known["name"])
        seen["found"].append(browser.current_url.split("#")[1])
    seen["facts"] = text("main .facts")
    seen["sessions"] = len(rows("Sessions"))

    button("Disable account…").click()
    until(lambda: one("#ask").is_displayed())
    seen["question"] = text("#ask-title")
    one("#ask-cancel").click()
    until(lambda: not one("#ask").is_displayed())
    seen["afterCancel"] = text(".heading .chips")
    button("Disable account…").click()
    button("Disable account", "#ask").click()
    seen["disabled"] = said()
    seen["chips"] = text(".heading .chips")
    button("Enable account").click()
    until(lambda: "enabled" in text("#outcome"))
    seen["enabledChips"] = text(".heading .chips")

    # A deed whose answer gets lost.
    browser.execute_script(
        "const own = window.fetch; window.fetch = async (...all) => { const answer = await own(...all);"
        "if (all[1].method === 'GET') return answer; window.fetch = own; throw new TypeError('lost'); };")
    button("Disable account…").click()
    button("Disable account", "#ask").click()
    until(lambda: "not known" in text("#outcome"))
    seen["afterLoss"] = text(".heading .chips")
    button("Enable account").click()
    until(lambda: "enabled" in text("#outcome"))

    sessions = rows("Sessions")
    seen["ends"] = browser.execute_script(
        "return [...document.querySelectorAll('main td button')].map((button) => button.ariaLabel)")
    button("End").click()
    button("End session", "#ask").click()
    until(lambda: "ended" in text("#outcome"))
    seen["endedSession"] = sessions[0][1]
    seen["sessionsThen"] = len(rows("Sessions"))
    button("End all sessions…").click()
    button("End all sessions", "#ask").click()
    until(lambda: "sessions have ended" in text("#outcome"))
    seen["endedAll"] = text("#outcome")
    seen["audit"] = [row[1] for row in rows("Audit")]

    button("Delete account…").click()
    confirm = button("Delete account", "#ask")
    seen["mayDelete"] = [str(confirm.is_enabled())]
    for word in ["x", Keys.BACKSPACE + "delet", "e"]:
        one("#ask-word").send_keys(word)
        seen["mayDelete"].append(str(confirm.is_enabled()))
    one("#ask-cancel").click()
    until(lambda: not one("#ask").is_displayed())
    seen["statusAfterCancel"] = answered(known["token"], "users/" + known["id"])
    button("Delete account…").click()
    one("#ask-word").send_keys(known["id"])
    button("Delete account", "#ask").click()
    shown("Accounts")
    seen["deleted"] = said()
    seen["statusAfterDelete"] = answered(known["token"], "users/" + known["id"])
    seen["listedThen"] = [row[1] for row in rows("Accounts")]
    go("account:" + known["id"], "Not shown")
    seen["gone"] = text("main .fault")
    return seen


def by_keyboard():
    seen = {}

    def press(*keys):
        ActionChains(browser).send_keys(*keys).perform()

    def focused():
        return browser.execute_script("return document.activeElement.textContent.trim() || document.activeElement.id")

    def tab_to(name):
        for _ in range(60):
            press(Keys.TAB)
            if focused() == name:
                # What is reached has to be seen to be.
                return browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
        raise AssertionError(f"the keyboard does not reach {name}")

    opens()
    press(known["token"], Keys.ENTER)
    shown("Overview")
    seen["atFirst"] = focused()
    browser.execute_script("document.activeElement.blur()")
    seen["outlines"] = [tab_to("Skip to the content")]
    press(Keys.ENTER)
    seen["skipped"] = focused()
    browser.execute_script("document.activeElement.blur()")
    seen["outlines"].append(tab_to("Accounts"))
    press(Keys.ENTER)
    shown("Accounts")
    seen["atAccounts"] = focused()
    seen["outlines"].append(tab_to("search"))
    press(known["id"], Keys.ENTER)
    shown(known["name"])
    seen["atAccount"] = focused()
    seen["outlines"].append(tab_to("Disable account…"))
    press(Keys.ENTER)
    until(lambda: one("#ask").is_displayed())
    seen["inQuestion"] = focused()
    press(Keys.ESCAPE)
    until(lambda: not one("#ask").is_displayed())
    seen["afterEscape"] = focused()
    press(Keys.SPACE)
    until(lambda: one("#ask").is_displayed())
    seen["outlines"].append(tab_to("Disable account"))
    press(Keys.ENTER)
    seen["said"] = said()
    seen["afterDeed"] = focused()
    browser.back()
    shown("Accounts")
    seen["afterBack"] = focused()
    browser.forward()
    shown(known["name"])
    seen["titleOfPerson"] = browser.title
    button("Delete account…").click()
    until(lambda: one("#ask").is_displayed())
    browser.back()
    shown("Accounts")
    until(lambda: not one("#ask").is_displayed())
    return seen


def overview():
    opens()
    unlock(known["token"])
    shown("Overview")
    seen = {
        "refusals": [row[:3] for row in rows("Refusals by reason")],
        "queues": [[row[0], row[1], row[3]] for row in rows("Queues")],
        "tiles": text(".tiles"),
    }
    # What is found may be renewed before it is clicked.
    until(lambda: one("#chart-signins ~ details summary").click() or True)
    until(lambda: rows("Sign-ins"))
    table = rows("Sign-ins")
    seen["signIns"] = [str(sum(int(row[place]) for row in table)) for place in (1, 2)]
    seen["bars"] = len(browser.find_elements(By.CSS_SELECTOR, "#chart-signins ~ svg .two"))
    go("keys", "Keys")
    seen["keys"] = [[row[0], row[2]] for row in rows("Signing keys")]
    seen["fates"] = [row[5] for row in rows("Signing keys")]
    seen["masterKeys"] = rows("Master keys")
    go("audit", "Audit")
    seen["audit"] = [row[1] for row in rows("Audit")]
    time = one("main time")
    seen["time"] = [time.get_attribute("datetime"), time.get_attribute("title")]
    return seen


def strangers():
    seen = {"names": [], "overflow": [], "isolated": [], "images": 0}
    opens()
    unlock(known["token"])
    shown("Overview")
    for width in [1280, 360]:
        emulate(width)
        for fragment in ["accounts"] + ["account:" + id for id in known["ids"]] + ["audit"]:
            go(fragment)
            seen["overflow"] += browser.execute_script(OVERFLOW)
            seen["images"] += len(browser.find_elements(By.CSS_SELECTOR, "img, main script, main iframe, main svg[onload]"))
            if width == 1280 and fragment.startswith("account:"):
                seen["names"].append(browser.execute_script("return document.querySelector('main h1').textContent"))
                button("Delete account…").click()
                seen["isolated"] += browser.execute_script(
                    "return [...document.querySelectorAll('.foreign')].map((e) => getComputedStyle(e).unicodeBidi)")
                one("#ask-cancel").click()
    seen["isolated"] = sorted(set(seen["isolated"]))
    return seen


def looks():
    seen = {"overflow": [], "contrast": [], "texts": 0}

    def look(name, width, scheme):
        seen["overflow"] += [f"{name} {width}: {what}" for what in browser.execute_script(OVERFLOW)]
        found = browser.execute_script(CONTRAST)
        seen["texts"] += found["count"]
        seen["contrast"] += [f"{name} {scheme}: {what}" for what in found["faults"]]
        browser.save_screenshot(f"{folder}/{name}-{width}-{scheme}.png")

    for scheme in ["light", "dark"]:
        for width in [1280, 768, 360]:
            emulate(width, scheme)
            opens()
            unlock("wrong")
            until(lambda: text("#refusal"))
            look("locked", width, scheme)
            unlock(known["token"])
            shown("Overview")
            look("overview", width, scheme)
            for name in ["accounts", "account:" + known["id"], "keys", "audit", "account:nobody"]:
                go(name)
                look(name.replace(":", "-"), width, scheme)
            go("account:" + known["id"])
            button("Delete account…").click()
            look("question", width, scheme)
    return seen


def outage():
    seen = {}
    opens()
    unlock(known["token"])
    shown("Overview")
    os.kill(known["pid"], signal.SIGKILL)
    until(lambda: "does not answer" in text("[role=status]"))
    seen["figures"] = text(".tiles")
    one("#bar nav a[href='#accounts']").click()
    shown("Not shown")
    seen["shown"] = text("main .fault")
    return seen


scenes = {f.__name__: f for f in [unlocking, administering, by_keyboard, overview, strangers, looks, outage]}
with browser:
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    try:
        seen = scenes[scene]()
        seen["violations"] = browser.execute_script("return window.violations")
        seen["ran"] = browser.execute_script("return window.ran")
    finally:
        browser.save_screenshot(f"{folder}/{scene}.png")
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    # The browser's own pages ask for things too.
    asked = [m["params"]["request"]["url"] for m in sent
             if m["method"] == "Network.requestWillBeSent" and not m["params"]["documentURL"].startswith("chrome")]
    seen["elsewhere"] = [to for to in asked if not to.startswith((url + "/", "about:"))]
    seen["asked"] = len(asked)
    # That an answer was no 2xx is no fault of the page's.
    seen["complaints"] = [
        entry["message"] for entry in browser.get_log("browser")
        if entry["level"] in ("SEVERE", "WARNING") and "Failed to load resource" not in entry["message"]]
    print(json.dumps(seen))
