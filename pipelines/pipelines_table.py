"""Writes pipelines_table.h: the pipeline files as MlirxPipeline rows for the plugin.

usage: pipelines_table.py OUT.h FILE.pipeline...
A file NAME.pipeline becomes the named pipeline onyx-NAME. Its first comment is the description;
${option} in it is an option of the pipeline, a string, empty by default.
"""
import os
import re
import sys

HELP = {
    "weights-root": "folder that relative names of weights files start from",
}


def c_string(text):
    out = "".join({'"': '\\"', "\\": "\\\\", "\n": "\\n"}.get(c, c) for c in text)
    return '"' + out.replace("\\n", '\\n"\n    "') + '"'


def main(out, *files):
    rows, options = [], []
    for path in sorted(files):
        name = "onyx-" + os.path.basename(path).removesuffix(".pipeline")
        with open(path) as f:
            text = f.read()
        description = re.search(r"^// *(.+)$", text, re.M).group(1)
        code = re.sub(r"//.*", "", text)
        used = sorted(set(re.findall(r"\$\{([\w-]+)\}", code)))
        table = "NULL"
        if used:
            table = f"onyx_pipeline_options_{len(rows)}"
            entries = "".join(
                f"    {{{c_string(o)}, MLIRX_OPT_STRING, \"\", {c_string(HELP[o])}}},\n" for o in used)
            options.append(f"static const MlirxOption {table}[] = {{\n{entries}    {{0}}}};\n")
        rows.append(f"    {{{c_string(name)}, {c_string(description)},\n    {c_string(text)}, {table}}},\n")
    pointers = ", ".join(f"&onyx_pipelines[{i}]" for i in range(len(rows)))
    with open(out, "w") as f:
        f.write("// Made by pipelines_table.py from the *.pipeline files. Include it after mlirx.h, in tables.c.\n")
        f.write("".join(options))
        f.write("static const MlirxPipeline onyx_pipelines[] = {\n" + "".join(rows) + "};\n")
        f.write(f"// For the list mlirxPipelines.\n#define ONYX_PIPELINE_POINTERS {pointers}\n")


main(*sys.argv[1:])
