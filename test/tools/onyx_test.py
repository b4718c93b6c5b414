"""What the Python suites share: the build's tools, bounded runs, expected-failure lists."""
import os
import re
import resource
import subprocess
import sys

import onyx_site

BIN = os.path.join(onyx_site.BUILD, "bin")
SHARED = os.environ.get("ONYX_SHARED") or onyx_site.SHARED
SKIPPED = 77
CI = os.environ.get("CI") == "true"
FULL = bool(os.environ.get("ONYX_FULL"))


def bounds():
    """Memory and CPU time, for a child: a runaway case ends, and the machine stays usable."""
    if not onyx_site.SANITIZE:
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (200, 210))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, timeout=120, cwd=None):
    """Runs command; returns (exit code, text of both streams). A timeout is code 124, a signal a negative code."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", cwd=cwd, preexec_fn=bounds, start_new_session=True) as process:
        try:
            text, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            text, _ = process.communicate()
            return 124, text + f"\ntimeout after {timeout} s"
    return process.returncode, text


def reason(code, text):
    """One line that says why a command failed: its first error, without the places that differ between machines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # onyx-compile only names the stage that failed, after the stage's own message.
    lines = [line for line in lines if not re.match(r"onyx-compile: error: .* failed", line)] or lines
    best = next((line for line in lines if re.search(r"\berror:", line)), lines[0] if lines else "")
    best = re.sub(r"^(\S*?/[^\s:]+|<unknown>)(:\d+)+: (error: )?(loc\(\"[^\"]*\"\): )?", "", best)
    best = re.sub(r"^(error: )?loc\(\"[^\"]*\"\): |^error: ", "", best)
    best = re.sub(r"(/[\w.@+-]+)+/", "", best)
    if code < 0 or code in (134, 136, 139):
        crash = next((line for line in lines if re.search(r"Assertion|LLVM ERROR|Segmentation|AddressSanitizer", line)), best)
        best = f"crash (code {code}): {crash}"
    if code == 124:
        best = "timeout"
    return best[:240] or f"exit code {code}"


def expected_failures(path):
    """NAME: REASON lines; a `#` starts a comment line."""
    result = {}
    with open(path) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, _, why = line.partition(":")
                result[name.strip()] = why.strip()
    return result


def skip(name, why):
    print(f"skipped: {name}: {why}")
    sys.exit(SKIPPED)
