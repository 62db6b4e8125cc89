# Every target installs what it needs and asks nothing. What they do in detail: README.md, and the scripts they call.

.PHONY: setup build demo image machine test test-quick interop pages test-machine wpt test-long bench fuzz lint docs clean

setup:       ## Debian and Python packages for everything below
	@Scripts/setup.sh test

build:       ## parlor, parlor-page and parlor-bench, optimised, in .build/release
	@Scripts/setup.sh build
	swift build -c release

demo: build  ## a page calls the built-in peer (--direct: no page); prints what was measured, writes parlor-demo.png
	.build/release/parlor demo $(ARGUMENTS)

image: build ## the image to be flashed and its update, in .build/image; ARGUMENTS as of Image/build.sh (--flavour page|direct)
	@Scripts/setup.sh image
	@Image/build.sh $(ARGUMENTS)

machine:     ## boots the image in a virtual machine; ARGUMENTS as of Image/machine.py
	@Scripts/setup.sh image
	@Image/machine.py $(ARGUMENTS)

test:        ## everything that must pass; the last line says "N passed, N failed"
	@Scripts/test.sh

test-quick:  ## the unit tests and the formatting, without other programs as peers
	@Scripts/test.sh --quick

interop: build  ## the calls with real peers alone; ARGUMENTS as of Tests/Interop/run.py
	@Scripts/setup.sh test
	@.build/venv/bin/python Tests/Interop/run.py $(ARGUMENTS)

pages: build ## the call pages alone; ARGUMENTS as of Tests/PageCalls/run.py
	@Scripts/setup.sh test
	@.build/venv/bin/python Tests/PageCalls/run.py $(ARGUMENTS)

test-machine: build  ## on real kernel drivers, in a virtual machine; ARGUMENTS as of Tests/Machine/run.py
	@Scripts/setup.sh test machine
	@.build/venv/bin/python Tests/Machine/run.py $(ARGUMENTS)

wpt: build   ## the web-platform-tests of WebRTC, beside Chromium's figures; ARGUMENTS as of Tests/WebPlatform/run.py
	@Scripts/setup.sh test
	@Tests/WebPlatform/fetch.sh
	@.build/venv/bin/python Tests/WebPlatform/run.py $(ARGUMENTS)

test-long:   ## the long counts: each parser fuzzed for ten minutes; results in Tests/RESULTS.md
	@Scripts/test-long.sh

bench:       ## measurements, as ratios to a reference run beside them
	@Scripts/setup.sh test
	swift build -c release
	.build/release/parlor-bench all $(ARGUMENTS)

fuzz:        ## each parser for SECONDS (60)
	@Scripts/fuzz.sh --seconds $(or $(SECONDS),60) $(ROOMS)

lint:        ## formatting, as .swift-format says
	@Scripts/lint.sh

docs:        ## the reference of parlor.toml in Config and README.md; documentation of the library products, as web pages in .build/docs
	@Scripts/reference.sh
	@Scripts/docs.sh

clean:       ## everything that was built
	rm -rf .build .build-test .build-fuzz .build-coverage
