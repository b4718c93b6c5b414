"""Runs the node tests of the ONNX standard: import, compile, run, compare. `scripts/conformance --help` says how.

A case's result is None (passes) or (stage, reason), the stage being import, compile, run or compare. The list in
expected-failures.txt is strict: a case of it that passes fails the suite, as does another that fails."""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import sys
import time

import cases
import onyx_counts
import onyx_site
import onyx_test
import report
import stages

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected-failures.txt")


def compare(case, compiled, folder):
    """Runs the compiled case on its inputs; None or (stage, reason)."""
    command = [f"{onyx_test.BIN}/onyx-run", compiled, "--rtol", str(case.rtol), "--atol", str(case.atol)]
    for kind, option in (("input", "--input"), ("output", "--expected-output")):
        for index, file in enumerate(case.protos(kind)):
            command += [option, cases.true_type(case, kind, index, file, folder)]
    code, text = onyx_test.run(command, 60)
    if code == 0:
        return None
    return ("compare" if code == 1 and "error:" not in text else "run", onyx_test.reason(code, text))


def run_case(case, work, options):
    """None or (stage, reason) of one case."""
    folder = os.path.join(work, case.name)
    os.makedirs(folder, exist_ok=True)
    imported, compiled = os.path.join(folder, "model.mlir"), os.path.join(folder, "model.so")
    code, text = onyx_test.run([f"{onyx_test.BIN}/onyx-import", case.model, "-o", imported], 30)
    if code:
        return ("import", onyx_test.reason(code, text))
    if options.until:
        result = stages.until(case, imported, options.until, options.level) if options.until != "import" else None
        if result is None:
            shutil.rmtree(folder)
        return result
    code, text = onyx_test.run([f"{onyx_test.BIN}/onyx-compile", imported, "-o", compiled, f"-O{options.level}"], 120)
    if code:
        return ("compile", onyx_test.reason(code, text))
    result = compare(case, compiled, folder)
    if result is None:
        shutil.rmtree(folder)
    return result


def run_all(chosen, work, options):
    """{name: (result, seconds)}; shows progress where someone watches."""
    results, begin = {}, time.time()

    def one(case):
        started = time.time()
        result = run_case(case, work, options)
        return case, result, time.time() - started

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, result, seconds in pool.map(one, chosen):
            results[case.name] = (result, seconds)
            if sys.stderr.isatty():
                failed = sum(r is not None for r, _ in results.values())
                print(f"\r{len(results)}/{len(chosen)} cases, {failed} failed, {time.time() - begin:.0f} s ",
                      end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return results


def choose(options):
    everything = [c for c in cases.all_cases() if c.model]
    if options.filter:
        everything = [c for c in everything
                      if any(f == c.op or re.search(f, c.name) for f in options.filter)]
    if options.listed:
        listed = onyx_test.expected_failures(EXPECTED)
        everything = [c for c in everything if c.name in listed]
    if options.sample and options.sample < len(everything):
        everything = random.Random(options.seed).sample(everything, options.sample)
    return everything


def judge(results, expected):
    """Sorts the results against the list: (passed, known, failed, surprising) names."""
    passed = [n for n, (r, _) in results.items() if r is None and n not in expected]
    known = [n for n, (r, _) in results.items() if r is not None and n in expected]
    failed = [n for n, (r, _) in results.items() if r is not None and n not in expected]
    surprising = [n for n, (r, _) in results.items() if r is None and n in expected]
    return passed, known, failed, surprising


def print_reasons(failures):
    """The commonest reasons, with what names and numbers they differ in left out."""
    alike = collections.Counter(
        f"{stage}: " + re.sub(r"[\w.]+\.mlir:\d+:\d+: |'[^']*'|\"[^\"]*\"|-?\d+(\.\d+)?(e[-+]?\d+)?", "_", why)
        for stage, why in failures)
    print("reasons:")
    for why, count in alike.most_common(40):
        print(f"  {count:5} {why}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/conformance", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="*", help="operator (Conv) or regular expression on case names")
    parser.add_argument("--sample", type=int, default=0, help="this many cases only, chosen by --seed; not with check --full")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-O", dest="level", default="0", help="optimisation level of onyx-compile (0)")
    parser.add_argument("--until", choices=list(stages.PIPELINES), help="stop there: quick, compares shapes but no numbers")
    parser.add_argument("--name", default="", help="suite, for the counts of scripts/check")
    parser.add_argument("--list", action="store_true", help="print the chosen cases and their operators, run nothing")
    parser.add_argument("--listed", action="store_true", help="only cases of expected-failures.txt: is the list still true?")
    parser.add_argument("--update", action="store_true", help="rewrite expected-failures.txt for the cases that ran")
    parser.add_argument("--docs", action="store_true", help="write docs/operators.md (with all cases)")
    parser.add_argument("-v", "--verbose", action="store_true", help="one line a case")
    options = parser.parse_args()
    if onyx_test.FULL:
        options.sample = 0
    chosen = choose(options)
    if options.list:
        for case in chosen:
            print(case.name, case.op or "-")
        return 0
    if not chosen:
        print("skipped: conformance: no node tests here (package libonnx-testdata, ONYX_SHARED)")
        return onyx_test.SKIPPED
    if not os.path.isdir(os.path.join(onyx_test.SHARED, "onnx")):
        print(f"skipped: the newer node tests: none at {onyx_test.SHARED} (set ONYX_SHARED)")

    work = os.path.join(onyx_site.BUILD, "test", "conformance", options.name or "cases")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    begin = time.time()
    results = run_all(chosen, work, options)
    with open(os.path.join(work, "results.json"), "w") as f:
        json.dump({n: {"result": r, "seconds": round(s, 3)} for n, (r, s) in results.items()}, f, indent=1)

    expected = {} if options.until else onyx_test.expected_failures(EXPECTED)
    if options.update and not options.until:
        report.update_expected(EXPECTED, expected, results)
        expected = onyx_test.expected_failures(EXPECTED)
    passed, known, failed, surprising = judge(results, expected)
    if options.verbose:
        for name, (result, seconds) in results.items():
            print(f"{name}: {'ok' if result is None else ': '.join(result)} ({seconds:.2f} s)")
    for name in failed:
        print(f"FAIL {name}: {results[name][0][0]}: {results[name][0][1]}")
    if len(failed) > 20:
        print_reasons([results[name][0] for name in failed])
    for name in surprising:
        print(f"FAIL {name}: passes: remove it from {os.path.relpath(EXPECTED, onyx_site.SOURCE)}")
    failed_at = collections.Counter(r[0] for r, _ in results.values() if r)
    where = f"until {options.until}" if options.until else f"at -O{options.level}"
    print(f"{len(chosen)} cases {where} in {time.time() - begin:.0f} s: {len(passed)} pass, "
          f"{len(known)} fail as listed, {len(failed) + len(surprising)} wrong"
          + "".join(f", {n} at {stage}" for stage, n in sorted(failed_at.items())))
    if options.docs and not options.until:
        report.write_operators(os.path.join(onyx_site.SOURCE, "docs", "operators.md"), chosen, results)
    if options.name:
        onyx_counts.write(options.name, len(passed), len(failed) + len(surprising), len(known))
    return 1 if failed or surprising else 0


if __name__ == "__main__":
    sys.exit(main())
