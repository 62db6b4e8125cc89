"""The suite's own server, on loopback, with plain HTTP alone: loopback is a secure context."""

import os
import sys


def main() -> None:
    root, port = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    sys.path.insert(0, root)
    os.chdir(root)
    from tools import localpaths  # noqa: F401  the suite's way to its own packages
    from tools.serve import serve

    class Builder(serve.ConfigBuilder):
        _default = dict(
            serve.ConfigBuilder._default,
            browser_host="localhost",
            alternate_hosts={"alt": "127.0.0.1"},
            check_subdomains=False,
            ports={"http": [port, port + 1]},
            ssl=dict(serve.ConfigBuilder._default["ssl"], type="none"),
            logging={"level": "warning", "suppress_handler_traceback": True},
        )

    serve.run(config_cls=Builder, alias_file=None, config_path=None, h2=False, webtransport_h3=False, exit_after_start=False, verbose=False)


if __name__ == "__main__":
    main()
