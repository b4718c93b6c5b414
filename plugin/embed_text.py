"""Writes a C header with a text file as a character array.

usage: embed_text.py NAME IN OUT.h
"""
import sys


def main(name, source, out):
    with open(source) as f:
        lines = f.read().splitlines()
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    with open(out, "w") as f:
        f.write(f"static const char {name}[] =\n")
        f.write("".join(f'    "{line}\\n"\n' for line in escaped) or '    ""\n')
        f.write("    ;\n")


main(*sys.argv[1:])
