# SPDX-License-Identifier: Apache-2.0
"""Drives `gyre top` in a pseudo terminal: top_pty.py GYRE CASE [SAMPLE]. Exit 0 when the case's claim holds, with what was
seen on stdout otherwise."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 30  # seconds; a wait that is over sooner ends sooner
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


class Terminal:
    def __init__(self, gyre, *words, rows=24, columns=80):
        self.main, side = pty.openpty()
        self.seen = b""
        self.before = termios.tcgetattr(side)
        self.side = side
        self.resize(rows, columns)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(side, termios.TIOCSCTTY, 0)
            for descriptor in (0, 1, 2):
                os.dup2(side, descriptor)
            os.environ["TERM"] = "xterm"
            os.execv(gyre, [gyre, "top", *words])

    def resize(self, rows, columns):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        if select.select([self.main], [], [], seconds)[0]:
            self.seen += os.read(self.main, 65536)

    def until(self, pattern, start=0):
        """Reads until the pattern was seen behind `start`; where it ends."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.compile(pattern, re.S).search(self.seen, start)
            if found:
                return found.end()
            self.read(0.1)
        raise AssertionError(f"{pattern} was not seen in {self.seen[start:][-2000:]!r}")

    def write(self, keys):
        os.write(self.main, keys)

    def status(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.read(0)
                return os.waitstatus_to_exitcode(status)
            self.read(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError(f"it did not end: {self.seen[-500:]!r}")

    def ended(self, expected):
        """It ended so, and left the terminal as it was."""
        assert self.status() == expected
        assert self.seen.count(ENTER) == self.seen.count(LEAVE), "the other screen stays"
        assert self.seen.rfind(b"\x1b[?25h") > self.seen.rfind(b"\x1b[?25l"), "no cursor"
        assert self.seen.rfind(b"\x1b[?7h") > self.seen.rfind(b"\x1b[?7l"), "no wrapping"
        assert termios.tcgetattr(self.side) == self.before, "its modes are not what they were"


def frame(text):
    """The lines of the last whole frame."""
    last = text[: text.rindex(b"\x1b[J")].rsplit(b"\x1b[H", 1)[1]
    return [re.sub(rb"\x1b\[[0-9;]*[mK]", b"", line) for line in re.split(rb"\r+\n", last)]


def open_top(gyre, *words, **size):
    terminal = Terminal(gyre, "--device", "null:0", "--interval", "100ms", *words, **size)
    terminal.until(rb"null:0.*healthy.*\x1b\[J")
    return terminal


def quit_by_key(gyre):
    terminal = open_top(gyre)
    terminal.write(b"q")
    terminal.ended(0)


def end_by(number):
    def case(gyre):
        terminal = open_top(gyre)
        os.kill(terminal.pid, number)
        terminal.ended(130)

    return case


def end_by_control_c(gyre):
    terminal = open_top(gyre)
    terminal.write(b"\x03")
    terminal.ended(130)


def help_and_back(gyre):
    terminal = open_top(gyre)
    terminal.write(b"h")
    at = terminal.until(rb"this help, and back")
    terminal.write(b"h")
    terminal.until(rb"null:0.*\x1b\[J", at)
    terminal.write(b"q")
    terminal.ended(0)


def pause_and_go_on(gyre):
    terminal = open_top(gyre)
    terminal.write(b" ")
    at = terminal.until(rb"paused.*\x1b\[J")
    terminal.write(b" ")
    terminal.until(rb"every 0\.1 s\x1b\[2m", at)
    terminal.write(b"xyz\x1b[Aq")
    terminal.ended(0)


def fit(gyre):
    """Every size is kept to, and a change of it is followed."""
    terminal = open_top(gyre)
    for rows, columns in ((24, 80), (5, 30), (1, 1), (60, 200), (24, 80)):
        at = len(terminal.seen)
        terminal.resize(rows, columns)
        os.kill(terminal.pid, signal.SIGWINCH)
        terminal.until(rb"\x1b\[H[^J]*\x1b\[J", at)
        time.sleep(0.4)
        terminal.read(0)
        lines = frame(terminal.seen)
        assert len(lines) <= rows, f"{len(lines)} lines of {rows}"
        assert all(len(line) <= columns for line in lines), f"{columns}: {lines}"
    assert any(b"null:0" in line for line in lines), lines
    terminal.write(b"q")
    terminal.ended(0)


def stop_and_continue(gyre):
    terminal = open_top(gyre)
    os.kill(terminal.pid, signal.SIGTSTP)
    terminal.until(re.escape(LEAVE))
    pid, status = os.waitpid(terminal.pid, os.WUNTRACED)
    assert pid == terminal.pid and os.WIFSTOPPED(status)
    assert termios.tcgetattr(terminal.side) == terminal.before
    at = len(terminal.seen)
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.until(rb"null:0.*\x1b\[J", at)
    terminal.write(b"q")
    terminal.ended(0)


def plain(gyre):
    """NO_COLOR leaves the picture, without colours."""
    os.environ["NO_COLOR"] = "1"
    terminal = open_top(gyre)
    terminal.write(b"q")
    terminal.ended(0)
    assert not re.search(rb"\x1b\[[1-9][0-9]*m", terminal.seen)


def coloured(gyre):
    terminal = open_top(gyre)
    terminal.write(b"q")
    terminal.ended(0)
    assert b"\x1b[32mhealthy\x1b[0m" in terminal.seen


def once(gyre):
    """With --once nothing of the terminal is touched."""
    terminal = Terminal(gyre, "--device", "null:0", "--once")
    assert terminal.status() == 0
    terminal.until(rb"null:0")
    assert b"\x1b[?" not in terminal.seen


def actors(gyre, sample):
    """An actor comes, with a rate, and goes."""
    process = subprocess.Popen([sample, "pty-actor"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"resident\n"
    terminal = Terminal(gyre, "--device", "cpu:0", "--interval", "100ms", rows=40, columns=140)
    terminal.until(rb"actors\x1b.*%d .*pty-actor .*tally .*cpu:0 .*active\x1b\[0m +1 +[0-9]+ +[0-9.]*[1-9]" % process.pid)
    process.stdin.write(b"end\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"ended\n"
    at = len(terminal.seen)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        terminal.read(0.1)
        if b"\x1b[J" in terminal.seen[at:] and not any(b"pty-actor" in line for line in frame(terminal.seen)):
            break
    else:
        raise AssertionError(f"it stays: {terminal.seen[-2000:]!r}")
    terminal.write(b"q")
    terminal.ended(0)
    process.stdin.close()
    assert process.wait() == 0


CASES = {
    "actors": actors,
    "q": quit_by_key,
    "control_c": end_by_control_c,
    "sigterm": end_by(signal.SIGTERM),
    "sighup": end_by(signal.SIGHUP),
    "help": help_and_back,
    "pause": pause_and_go_on,
    "sizes": fit,
    "stop": stop_and_continue,
    "no_color": plain,
    "color": coloured,
    "once": once,
}

if __name__ == "__main__":
    CASES[sys.argv[2]](sys.argv[1], *sys.argv[3:])
