"""Runs the `sh` blocks of README.md in order, in one shell, as a reader of it would from the root of the tree."""
import os
import re
import shutil
import sys

import onyx_site
import onyx_test


def main():
    with open(os.path.join(onyx_site.SOURCE, "README.md")) as f:
        blocks = re.findall(r"^```sh\n(.*?)^```$", f.read(), re.S | re.M)
    assert blocks, "README.md has no sh blocks"
    # Links stand for the root, so that another build folder's name and a read-only tree work too.
    root = os.path.join(onyx_site.BUILD, "test", "readme", "root")
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    for name in os.listdir(onyx_site.SOURCE):
        if not name.startswith("build"):
            os.symlink(os.path.join(onyx_site.SOURCE, name), os.path.join(root, name))
    os.symlink(onyx_site.BUILD, os.path.join(root, "build"))
    code, text = onyx_test.run(["bash", "-euxo", "pipefail", "-c", "\n".join(blocks)], 240, cwd=root)
    print(text)
    return code


sys.exit(main())
