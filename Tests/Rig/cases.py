"""Cases by name, run one after the other, as the tests in virtual machines have them."""

import sys
import time
import traceback


def run(suite, cases, options, failures):
    """Runs what `options.only` leaves of `cases`, or with `options.list` only names it. Ends the program with `suite: N passed, N failed`. `failures` are the kinds of
    exception whose text says it all; others are shown with where they came from."""
    chosen = {name: case for name, case in cases.items() if not options.only or options.only in name}
    if options.list:
        print("\n".join(chosen))
        return
    passed = failed = 0
    for name, case in chosen.items():
        started = time.monotonic()
        try:
            case()
            passed += 1
            print(f"pass  {name}  ({time.monotonic() - started:.0f} s)", flush=True)
        except failures as failure:
            failed += 1
            print(f"FAIL  {name}: {failure}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL  {name}: {traceback.format_exc()}", flush=True)
    print(f"{suite}: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
