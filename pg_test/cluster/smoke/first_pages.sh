#!/usr/bin/env bash
# The pages that a new user reads first; full/readme.sh runs all of them.
ONLY='^(README|docs/[a-z-]+)\.md$' exec "$(dirname "$0")/../full/readme.sh"
