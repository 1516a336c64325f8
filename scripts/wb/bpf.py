# SPDX-License-Identifier: GPL-2.0
"""The BPF selftests of all that attaches to functions, on ours and on the pristine base."""

import os
import platform
import re

from . import guest, kbuild, rootfs, series
from .arch import selected
from .common import BUILD, ROOT, Fail, environment, output, run
from .results import Results

SELFTESTS = "tools/testing/selftests/bpf"
CLANG = "clang-22"
TESTS = ("kprobe_multi_test", "kprobe_multi_testmod_test", "kprobe_multi_bench_attach",
         "fentry_test", "fexit_test", "fentry_fexit", "fexit_sleep", "fexit_stress",
         "fsession_test", "get_func_ip_test", "get_func_args_test", "bpf_cookie", "stacktrace_map",
         "stacktrace_map_raw_tp", "stacktrace_map_skip", "stacktrace_ips", "stacktrace_build_id",
         "stacktrace_build_id_nmi", "perf_event_stackmap", "get_stack_raw_tp",
         "get_stackid_cannot_attach", "recursion",
         "recursive_fentry", "fentry_attach_btf_presence", "fentry_attach_stress", "attach_probe",
         "missed", "modify_return", "fill_link_info", "tracing_multi_test",
         "tracing_multi_attach_rollback", "tracing_multi_bench_attach", "tracing_multi_args",
         "tracing_multi_refused", "tracing_multi_mixed", "tracing_multi_info",
         "tracing_multi_skb", "tracing_multi_fmod_ret", "tracing_multi_objs", "ftrace_filter",
         "ftrace_users", "test_overhead", "test_lsm", "lsm_cgroup", "exceptions", "tailcalls",
         "trampoline_count", "tramp_prog_detach",
         "livepatch_trampoline", "module_attach", "module_fentry_shadow", "perf_link",
         "task_fd_query_tp", "tracing_struct")
# Those of them that "make check" runs
SELECTION = ("fentry_test", "fexit_test", "fentry_fexit", "fsession_test", "get_func_args_test",
             "get_func_ip_test", "recursion", "tracing_multi_test", "tracing_multi_args",
             "tracing_multi_refused", "tracing_multi_mixed", "tracing_multi_info",
             "tracing_multi_skb", "tracing_multi_fmod_ret", "tracing_multi_objs", "modify_return",
             "test_lsm", "ftrace_filter", "ftrace_users")
# What they open at run time, beside the programs that they contain
WANTED = ("test_progs", "urandom_read", "liburandom_read.so", "uprobe_multi", "sign-file",
          "verify_sig_setup.sh", "test_get_stack_rawtp.bpf.o", "test_get_stack_rawtp_err.bpf.o",
          "test_trampoline_count.bpf.o", "test_tracepoint.bpf.o", "stacktrace_map.bpf.o",
          "test_overhead.bpf.o", "tailcall*.bpf.o", "tc_dummy.bpf.o", "tools/sbin/bpftool")
TEST = re.compile(r"^void (?:serial_)?test_(\w+)\(", re.M)
SKELETON = re.compile(r'^#include "(\w+)\.(l?skel)\.h"', re.M)
RESULT = re.compile(r"^#\d+(?:/\d+)?\s+(\S.*):(OK|FAIL|SKIP)")


def just(tests, folder):
    """Variables for make, to build only @tests at @folder and the programs they include.

    The Makefile expands them once for each kind of test_progs.
    """
    files = [path for path in sorted((folder / "prog_tests").glob("*.c"))
             if {m[1] for m in TEST.finditer(path.read_text())} & set(tests)]
    skeletons = {(m[1], m[2]) for path in files for m in SKELETON.finditer(path.read_text())}

    def present(names, where):
        return f"$(notdir $(wildcard $(addprefix {where}/,{names})))"
    objects = present(" ".join(path.name for path in files), "$(TRUNNER_TESTS_DIR)")
    heads = " ".join(sorted({f"{name}.skel.h" for name, _ in skeletons}))
    sources = " ".join(sorted({f"{name}.c" for name, _ in skeletons}))
    linked = f"$(patsubst %.bpf.o,%.c,$(foreach head,{heads},$($(head)-deps)))"
    words = [f"TRUNNER_TEST_OBJS=$(patsubst %.c,$(TRUNNER_OUTPUT)/%.test.o,{objects})",
             f"TRUNNER_BPF_SRCS={present(f'{sources} {linked}', '$(TRUNNER_BPF_PROGS_DIR)')}",
             "TRUNNER_BPF_SKELS_LINKED="
             f"$(addprefix $(TRUNNER_OUTPUT)/,$(filter {heads},$(LINKED_SKELS)))"]
    for kind in ("LSKELS", "LSKELS_SIGNED"):
        words.append(f"TRUNNER_BPF_{kind}=$(patsubst %.c,$(TRUNNER_OUTPUT)/%.lskel.h,"
                     f"$(filter {sources},$({kind})))")
    return words


def programs(kernel, tests=None, out=None):
    """Build test_progs for @kernel's architecture, with its types; {path in the guest: file}.

    With every test that compiles, or only with @tests, which all have to compile. In @out.
    """
    arch = kernel.arch
    out = out or BUILD / "bpf" / (f"{arch.name}-selection" if tests else arch.name)
    out.mkdir(parents=True, exist_ok=True)
    # Made from the key in @out, but in the source, where another build may have left its own.
    (kernel.source / SELFTESTS / "verification_cert.h").unlink(missing_ok=True)
    words = ["nice", "-n", "5", "make", "-C", kernel.source / SELFTESTS, f"-j{os.cpu_count()}",
             f"OUTPUT={out}", f"O={kernel.out}", f"ARCH={arch.karch}",
             f"BPF_STRICT_BUILD={int(bool(tests))}", "TEST_KMODS=", "SKIP_LLVM=1",
             "SKIP_LIBBFD=1", "SKIP_DOCS=1",
             f"CLANG={CLANG} --sysroot={rootfs.sysroot(arch)}"]
    if platform.machine() != arch.triple.split("-")[0]:
        # The compiler's own C library may be older than what the guest's others want.
        words += [f"CROSS_COMPILE={arch.cross}",
                  f"CC={arch.cross}gcc --sysroot={rootfs.sysroot(arch)} "
                  "-Wl,--allow-shlib-undefined"]
    if tests:
        words += just(tests, kernel.source / SELFTESTS)
    run([*words, "test_progs"], f"bpf-{out.name}.log", label=f"BPF selftests for {arch.name}",
        count=r"^\s+(CLNG-BPF|GEN-SKEL|TEST-OBJ)\b", what="steps", env=environment())
    output([f"{arch.cross}strip", "-g", "-o", out / "test_progs.stripped", out / "test_progs"])
    files = {f"bpf/{path.relative_to(out)}": path for name in WANTED for path in out.glob(name)}
    files["bpf/test_progs"] = out / "test_progs.stripped"
    return files


def modules(kernel):
    """Build the selftests' modules for @kernel; {path in the guest: file}."""
    out = kernel.out / "bpf-modules"
    out.mkdir(exist_ok=True)
    source = kernel.source / SELFTESTS / "test_kmods"
    run(kbuild.make(kernel, f"M={source}", f"MO={out}", "modules"),
        f"bpf-modules-{kernel.name.replace(' ', '-')}.log", env=kbuild.env())
    return {f"bpf/{p.name}": p for p in out.glob("*.ko")}


def run_tests(kernel, files, tests=TESTS):
    """{test: result} of test_progs on @kernel, and the guest's log.

    With both CPUs in one thread: QEMU 7.2 runs what it has translated of the entry of
    idle_cpu() and the like after a NOP has been written there, and after what it called
    then was freed. The NOP was read in the guest's memory after such a crash.
    """
    done = guest.boot(kernel.arch, kernel.image, f"TESTS={','.join(tests)}\n. /tests/bpf.sh\n",
                      f"bpf-{kernel.name.replace(' ', '-')}.log",
                      files={**kbuild.guest_files(kernel), **files},
                      label=f"BPF selftests {kernel.name}", memory="3G", append="loglevel=5",
                      timeout=3600, silence=900, threads="single")
    found = (RESULT.match(ln) for ln in done.report("results").splitlines())
    return {m[1]: m[2] for m in found if m}, done.log


def selection(results, kernel):
    """None of SELECTION fails on @kernel, which has the options that they need."""
    with results.case(f"{kernel.name}: BPF selftests"):
        judge(results, kernel, {**programs(kernel, SELECTION), **modules(kernel)}, SELECTION)


def judge(results, kernel, files, tests):
    """All of @tests run on @kernel, none fails and none is skipped; a subtest may be skipped."""
    found, log = run_tests(kernel, files, tests)
    for name, result in sorted(found.items()):
        if result == "FAIL" or result == "SKIP" and name in tests:
            results.fail(f"{kernel.name} BPF selftest {name}", f"{result}; log: {log}")
        results.count(passed=result == "OK", skipped=result == "SKIP")
    if not found.keys() >= set(tests):
        raise Fail(f"not run: {' '.join(set(tests) - found.keys())}; log: {log}")


def check_bpf():
    """No BPF selftest that passes on the pristine base fails on ours."""
    results = Results()
    series.stands(strict=False)
    own = {name for path in series.all_new_files() if "/prog_tests/" in path
           for name in TEST.findall((ROOT / path).read_text())}
    for arch in selected():
        with results.case(f"{arch.name}: BPF selftests"):
            base = kbuild.build(kbuild.base(arch, ("bpf",)))
            ours = kbuild.build(kbuild.ours(arch, ("bpf",)))
            # Of ours: it has tests more, and the base's are the same.
            files = programs(ours)
            before, _ = run_tests(base, {**files, **modules(base)})
            if not before.keys() >= set(TESTS):
                raise Fail(f"test_progs knows no {' '.join(set(TESTS) - before.keys())}; "
                           "see TESTS in bpf.py")
            after, _ = run_tests(ours, {**files, **modules(ours)})
            for name in sorted({*before, *after}):
                now, was = after.get(name, "not run"), before.get(name, "not run")
                if now == "OK":
                    results.count(passed=1)
                elif was == "OK":
                    results.fail(f"{ours.name} BPF selftest {name}", f"{now}, passes on the base")
                elif now == "FAIL" and name.split("/")[0] in own:
                    results.fail(f"{ours.name} BPF selftest {name}", "a test of ours")
                else:
                    results.count(skipped=1)
    return results.close()
