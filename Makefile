# SPDX-License-Identifier: GPL-2.0
# Callsite ops for Linux ftrace: "make help" lists the commands.

export ARCH CONFIG MIRROR LINUX_DEB LINUX_TARBALL T V TOPIC RECORD KERNEL LENGTH SEED

# The commands are those that the help lists; workbench.py has them by the same names.
COMMANDS := $(sort $(shell sed -n 's/^\#\#   make \([a-z-]*\).*/\1/p' \
	$(firstword $(MAKEFILE_LIST))))

help:
	@sed -n 's/^## //p' Makefile

## Look at it
##   make run [ARCH=arm64]    build, boot in QEMU and trace a live workload
##   make shell [ARCH=]       an interactive shell in the guest
##   make bench               instruction counts, pristine base beside the series
##   make bench RECORD=1      write them down, in tests/data/
## Test it
##   make check               everything that must pass, both architectures
##   make check-debug         the tests under KASAN, lockdep, fault injection
##   make check-storm [ARCH=] [KERNEL=debug] [LENGTH=seconds] [SEED=number]
##                            all that attaches comes and goes at random
##   make check-matrix [V=x]  the tests on fifteen kernel configurations: hours
##   make check-bpf           the base's BPF selftests, base and ours: an hour
##   make check-clients       bpftrace, perf, trace-cmd: the same on base and ours
##   make check-bisect        build every patch of the series
##   make check-topics [TOPIC=x]   each topic's tests, without the topics after it
##   make lint                the checks that need no kernel
##   make test [ARCH=] [T=x]  boot build/linux as it stands, run tests named x
##   make check-base          record what the pristine base's ftracetest does
## Work on it
##   make tree                build/linux: the base and the series, as git commits
##   make refresh             write build/linux back into patches/ and new files
##   make build [ARCH=]       build build/linux as it stands
##   make bump                move the pin to the newest point release
## Hand it on
##   make deb [ARCH=] [CONFIG=guest]   Debian packages of the patched kernel
##   make series [TOPIC=x]    mails for git am: a thread for each topic of patches/
##
## ARCH is x86_64 (the default) or arm64. MIRROR= names a Debian archive,
## LINUX_DEB= or LINUX_TARBALL= a local copy of the base. "make clean" removes
## what was made.

check check-debug check-bpf check-topics: MORE := clang-22 libzstd-dev

$(COMMANDS):
	@scripts/packages.sh $(MORE)
	@scripts/workbench.py $@

clean:
	rm -rf build

.PHONY: help clean $(COMMANDS)
.NOTPARALLEL:
