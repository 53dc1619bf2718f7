# Thin wrappers: each target is a script. PG_CONFIG names another PostgreSQL, as does PG=16.
.PHONY: all setup install uninstall demo check test test-full test-all test-packages bench evaluate deb wheel pgxn clean help
.NOTPARALLEL:

all: ## build the extension for the PostgreSQL of PG_CONFIG
	@scripts/build.sh

setup: ## install what a bare Debian lacks: packages, parts of Rust
	@scripts/setup.sh

install: ## copy what was built into that PostgreSQL (DESTDIR=folder: below that); sudo make install
	@scripts/install.sh

uninstall: ## remove it from there
	@scripts/uninstall.sh

demo: ## find near duplicates among this machine's licence texts (DOCS=folder: among its text files)
	@scripts/demo.sh

check: ## what needs no server: form, lints, rules of the house, unit tests (2 min)
	@scripts/test.sh check

test: ## what a change is tried with: tests of the core and in servers (6 to 13 min the first time)
	@scripts/test.sh

test-full: ## all parts of scripts/test_full.sh: what CI runs
	@scripts/test_full.sh

test-all: ## every test on each version of PostgreSQL that is supported, and the packages
	@scripts/test_full.sh all

test-packages: ## install and remove the Debian package in a clean root, build from the PGXN zip
	@packaging/test.sh

bench: ## compare with peers
	@scripts/bench.sh

evaluate: ## make the tables and plots of evaluation/pages (NEARDUP_DATA=folder of labelled corpora)
	@scripts/evaluate.sh

deb: ## make the Debian package for that PostgreSQL, in target/packages
	@packaging/deb.sh

wheel: ## make the wheel that brings the extension to a PostgreSQL of PyPI, in target/packages
	@packaging/wheel.sh

pgxn: ## make the zip for PGXN, in target/packages
	@packaging/pgxn.sh

clean: ## remove what was built
	cargo clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16
