# Thin wrappers: each target is a script of the same name. PG_CONFIG names another PostgreSQL.
.PHONY: all setup install demo test test-all bench evaluate clean help
.NOTPARALLEL:

all: setup ## build the extension
	@bash -c 'source scripts/common.sh && exec cargo build --release --no-default-features --features pg15'

setup: ## install what is missing: Debian packages, parts of Rust
	@scripts/setup.sh

install: setup ## build and install into PostgreSQL (DESTDIR=folder: below that)
	@scripts/install.sh

demo: ## find near duplicates among this machine's licence texts (DOCS=folder: among its text files)
	@scripts/demo.sh

test: ## every check and test, with servers of their own (PG=16, 17, 18: on that version)
	@scripts/test.sh

test-all: ## the same on each version of PostgreSQL that is supported
	@scripts/test_all.sh

bench: ## compare with peers
	@scripts/bench.sh

evaluate: ## make the tables and plots of docs/evaluation.md (NEARDUP_DATA=folder of labelled corpora)
	@scripts/evaluate.sh

clean: ## remove what was built
	cargo clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 10
