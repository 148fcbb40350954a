# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium over its DevTools pipe: one JSON object each way, ended by a NUL.

No port is opened and nothing outside Python's library is needed. One page at a time; events are kept
in the order they came, for the test to look through.
"""
import json
import os
import select
import signal
import subprocess
import time

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-default-apps --disable-extensions --disable-dev-shm-usage "
    "--force-device-scale-factor=1 --hide-scrollbars --remote-debugging-pipe"
).split()
PATIENCE_S = 25  # so that a browser that hangs fails every claim within the time of the test


class Failure(Exception):
    """What the page or the browser did that it should not."""


class Chromium:
    def __init__(self, program, folder):
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # Chromium reads from 3 and writes to 4
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{back_write}', "sh", program, *FLAGS,
             f"--user-data-dir={folder}/profile", "about:blank"],
            pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder})
        os.close(to_read)
        os.close(back_write)
        self.bytes = b""
        self.last = 0
        self.events = []
        self.session = None

    def close(self):
        """Asks it to end, and sees to it that all of its processes have."""
        try:
            self.call("Browser.close", page=False)
            self.process.wait(timeout=10)
        except (Failure, OSError, subprocess.TimeoutExpired):
            pass
        until = time.monotonic() + PATIENCE_S
        while self.remaining() and time.monotonic() < until:
            for pid in self.remaining():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        self.process.wait()
        os.close(self.to)
        os.close(self.back)

    def remaining(self):
        """The processes of its session, which this one started, that have not ended."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                    state, _, _, session = stat.read().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(session) == self.process.pid and state != "Z":
                found.append(int(pid))
        return found

    def receive(self, until):
        """The next message, None when the time is over."""
        while b"\0" not in self.bytes:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                return None
            more = os.read(self.back, 1 << 20)
            if not more:
                raise Failure("the browser has ended")
            self.bytes += more
        message, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, page=True, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if page:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE_S
        while True:
            answer = self.receive(until)
            if answer is None:
                raise Failure(f"{method}: no answer in {PATIENCE_S} s")
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def wait(self, condition, what):
        """Until an expression of the page is true."""
        until = time.monotonic() + PATIENCE_S
        while not self.value(condition):
            if time.monotonic() > until:
                raise Failure(f"waited in vain until {what}")
            time.sleep(0.02)

    def value(self, expression):
        """What an expression of the page is."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def start(self):
        """Opens a tab and listens to what happens in it."""
        target = self.call("Target.createTarget", page=False, url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", page=False, targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def look(self, width=1280, height=900, scheme="light", media=""):
        """The window that the next page is seen through, or this one from now on."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        """Loads a report, until it says that it is ready. Forgets the events of the one before."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait("performance.getEntriesByName('gyre-ready').length === 1", "the page is ready")

    def complaints(self):
        """Exceptions, console messages and log entries since the page was opened."""
        found = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Runtime.consoleAPICalled":
                found.append(f"console.{params['type']}: {[a.get('value') for a in params['args']]}")
            elif event["method"] == "Log.entryAdded":
                found.append(f"{params['entry']['level']}: {params['entry']['text']}")
            elif event["method"] == "Page.javascriptDialogOpening":
                found.append(f"dialog: {params['message']}")
        return found

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
