"""`cmake --install` gives a usable tree: the digit model through the installed tools only, and a C program over the header."""
import os
import shutil
import sys

import onyx_site
import onyx_test

FILES = ["bin/onyx-import", "bin/onyx-compile", "bin/onyx-run", "lib/libonyx.so", "include/onyx/model.h"]


def main():
    work = os.path.join(onyx_site.BUILD, "test", "install", "tree")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    prefix = os.path.join(work, "usr")
    digits = os.path.join(onyx_site.SOURCE, "examples", "digits")

    def step(*command):
        code, text = onyx_test.run(list(command), 120, cwd=work)
        print(f"$ {' '.join(command)}\n{text}", end="")
        if code:
            sys.exit(f"exit code {code}")
        return text

    step("cmake", "--install", onyx_site.BUILD, "--prefix", prefix)
    # The multiarch folder of Debian's GNUInstallDirs is lib as well, unless the prefix is /usr.
    missing = [f for f in FILES if not os.path.exists(os.path.join(prefix, f))]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}")
    # Another place than the build's: nothing may point back there.
    moved = os.path.join(work, "moved")
    os.rename(prefix, moved)
    step(f"{moved}/bin/onyx-compile", f"{digits}/digits.onnx", "-o", "digits.so")
    step(f"{moved}/bin/onyx-run", "digits.so", "--input", f"{digits}/images/3.npy",
         "--expected-output", f"{digits}/images/3.probabilities.npy")
    step("clang-22", "-std=c17", "-Wall", "-Wextra", "-Werror", f"{digits}/classify.c", f"-I{moved}/include",
         "./digits.so", "-Wl,-rpath,$ORIGIN", "-o", "classify")
    for digit in (0, 2, 3, 5, 8):
        answer = step("./classify", f"{digits}/images/{digit}.npy")
        if answer.strip() != str(digit):
            sys.exit(f"images/{digit}.npy is read as {answer.strip()}")


main()
