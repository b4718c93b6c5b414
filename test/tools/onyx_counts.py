"""The counts of a suite, for scripts/check: `passed failed skipped` in COUNTS/NAME."""
import os

import onyx_site


def write(name, passed, failed, skipped):
    os.makedirs(onyx_site.COUNTS, exist_ok=True)
    with open(os.path.join(onyx_site.COUNTS, name), "w") as out:
        out.write(f"{int(passed)} {int(failed)} {int(skipped)}\n")
