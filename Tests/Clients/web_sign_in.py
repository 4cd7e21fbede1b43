"""Signs a person in on the demonstration's page, in a real browser.

usage: web_sign_in.py URL CLIENT BUTTON FOLDER

URL is the service's, CLIENT a Services ID, BUTTON that of Apple's page that is pressed (`continue` or `cancel`). Prints
what the page says in the end as one JSON object, and leaves a picture of it in FOLDER.
"""

import json
import sys

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

url, client, button, folder = sys.argv[1:]

options = webdriver.ChromeOptions()
options.binary_location = "/usr/bin/chromium"
options.accept_insecure_certs = True
for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile"]:
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
service = webdriver.ChromeService("/usr/bin/chromedriver")

with webdriver.Chrome(options, service) as browser:
    wait = WebDriverWait(browser, 60)
    browser.get(url + "/console/signin-demo")
    browser.find_element(By.ID, "client").send_keys(client)
    browser.find_element(By.ID, "signin").click()
    wait.until(lambda browser: browser.find_elements(By.CSS_SELECTOR, f"#{button} button"))
    browser.find_element(By.CSS_SELECTOR, f"#{button} button").click()
    wait.until(lambda browser: [e for e in browser.find_elements(By.ID, "status") if e.text])
    browser.save_screenshot(folder + "/page.png")
    said = {name: browser.find_element(By.ID, name).text for name in ["status", "localId", "name", "email", "session"]}
    said["address"] = browser.current_url
    said["complaints"] = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    print(json.dumps(said))
