# tools/test asan: unit and PHPT under AddressSanitizer and UndefinedBehaviorSanitizer.

# A php that loads sanitized extensions: the shim first (it drops RTLD_DEEPBIND, with which ASan
# refuses to run), then libasan. PHP's own allocator is switched off, so that request memory is
# watched too. Libraries stay loaded at the end, so that reports name their functions. Without
# intercept_tls_get_addr=0 LeakSanitizer misreads glibc's thread-local blocks of loaded libraries
# and crashes now and then. Reports go to files: a child's count, even if nobody reads its output.
write_asan_php() {
    local dir=$1 library
    library=$(gcc -print-file-name=libasan.so)
    quietly "$dir/shim.log" gcc -shared -fPIC -O2 -Wall -Wextra -o "$dir/dlopen_shim.so.$$" \
        "$MQ_ROOT/tests/tools/dlopen_shim.c" -ldl || return 1
    mv "$dir/dlopen_shim.so.$$" "$dir/dlopen_shim.so"   # another run may have it open
    cat >"$dir/php.$$" <<WRAPPER
#!/bin/sh
export LD_PRELOAD='$dir/dlopen_shim.so $library'
export USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1 SKIP_ASAN=1 MAILQUEUE_ASAN=1
reports=\${MAILQUEUE_SANITIZER_LOG:-$dir/reports/report}
ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=1:detect_stack_use_after_return=1"
ASAN_OPTIONS="\$ASAN_OPTIONS:strict_string_checks=1:exitcode=99:log_path=\$reports"
ASAN_OPTIONS="\$ASAN_OPTIONS:intercept_tls_get_addr=0"
export ASAN_OPTIONS="\$ASAN_OPTIONS\${MAILQUEUE_ASAN_OPTIONS:+:\$MAILQUEUE_ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1:log_path=\$reports"
export LSAN_OPTIONS="suppressions=$MQ_ROOT/tests/tools/lsan.supp:print_suppressions=0"
exec '$("$PHP_CONFIG" --php-binary)' "\$@"
WRAPPER
    chmod 755 "$dir/php.$$"
    mv "$dir/php.$$" "$dir/php"
}

# A run whose sanitizers were silently missing would pass, so first they must find faults: each
# function of the probe has a fault of its own, and one has none.
probe_reports() {
    local dir=$1 function=$2 pattern=$3 reports
    reports=$(mktemp -d "$dir/probe.XXXXXX")
    MAILQUEUE_SANITIZER_LOG=$reports/report "$dir/php" -n -d extension="$dir/sanitizer_probe.so" \
        -r "$function();" >"$reports/output" 2>&1
    cat "$reports"/* >"$dir/$function.txt"
    if [ -z "$pattern" ]; then
        [ ! -s "$dir/$function.txt" ]
    else
        grep -q -- "$pattern" "$dir/$function.txt"
    fi
    local status=$?
    [ $status = 0 ] || head -n 30 "$dir/$function.txt"
    rm -rf "$reports"
    return $status
}

check_sanitizers() {
    local dir=$1 so=$2
    # shellcheck disable=SC2046
    quietly "$dir/probe.log" gcc -shared -fPIC -g -O1 -std=gnu11 -fno-omit-frame-pointer \
        -fsanitize=address,undefined -fno-sanitize-recover=undefined \
        $("$PHP_CONFIG" --includes) -o "$dir/sanitizer_probe.so.$$" \
        "$MQ_ROOT/tests/tools/sanitizer_probe.c" || return 1
    mv "$dir/sanitizer_probe.so.$$" "$dir/sanitizer_probe.so"
    check asan/instrumented sh -c 'nm -D "$1" | grep -q __asan_init &&
        objdump -p "$1" | grep -q "NEEDED *libubsan"' sh "$so"
    check asan/bites:nothing probe_reports "$dir" probe_nothing ""
    check asan/bites:heap probe_reports "$dir" probe_heap_overflow heap-buffer-overflow
    check asan/bites:request probe_reports "$dir" probe_request_overflow heap-buffer-overflow
    check asan/bites:leak probe_reports "$dir" probe_leak 'detected memory leaks'
    check asan/bites:request-leak probe_reports "$dir" probe_request_leak 'detected memory leaks'
    check asan/bites:undefined probe_reports "$dir" probe_signed_overflow 'signed integer overflow'
}

# PHPT files that are not run a second time here: they are about PHP code, and the C files that
# they use have their own tests here. Each line: glob of the path, reason.
asan_left_out() {
    cat <<'LIST'
tests/api/worker-killed.phpt strace kills the worker, and LeakSanitizer does not work under ptrace
tests/bridges/* classes of integrations/, above enqueue(): tests/enqueue, tests/message
tests/cli/usage.phpt help and usage errors of bin/mailqueue, before a queue is opened
tests/cli/cures.phpt commands that doctor prints; what they call: tests/cli/manage.phpt, tests/copy
tests/cli/log-search.phpt mailqueue log reads the worker's lines in PHP
tests/cli/terminal.phpt what bin/mailqueue shows, its widths and colours
tests/copy/kill.phpt kills by the time that a quick process takes; moving is PHP
tests/copy/workers.phpt the same
tests/copy/packet.phpt PDO alone leaks a native prepared statement after error 1153
tests/page/password.phpt a prompt of bin/mailqueue; python and the shells around it leak
tests/example/* pages of examples/, above enqueue(), a PDO as in tests/pdo, and the worker
tests/fpm/* php-fpm is not the sanitizer's PHP; the run is runWorker()'s: tests/api/worker
tests/sendmail/aliases.phpt a file that PHP reads, before enqueue()
tests/pgsql/pooler.phpt PDO leaks a result where a prepared statement is there already (42P05)
tests/sendmail/options.phpt options of bin/mailqueue; what reads messages: sendmail/message.phpt
tests/sendmail/smtp.phpt the dialogue of sendmail -bs is PHP; its mail is enqueued as any other
LIST
}

# asan_phpts [FILE|DIRECTORY...]: a test that is skipped here runs only if it is named itself.
asan_phpts() {
    local file pattern _reason left_out
    while read -r file; do
        case " $* " in *"$file "*) echo "$file" && continue ;; esac
        left_out=no
        while read -r pattern _reason; do
            # shellcheck disable=SC2254
            case $file in $pattern) left_out=yes ;; esac
        done < <(asan_left_out)
        [ $left_out = yes ] || echo "$file"
    done < <(select_phpt "$@")
}

# reentry_round LIBRARY SEED: PHP code that calls the queue again at any moment, once. Its actions
# follow from the seed. tools/torture reentry runs this for 20 minutes, from a fresh seed.
reentry_round() {
    local work name status=0
    local -a extensions=()
    for name in posix pcntl pdo pdo_sqlite; do
        php -n -m | grep -qix "$name" || extensions+=(-d "extension=$name")
    done
    work=$(mktemp -d)
    # Without leak checks: a fork's leaks cannot be told from its parent's.
    MAILQUEUE_ASAN_OPTIONS=log_path=stderr:detect_leaks=0 timeout 600 \
        "$MQ_BUILD/asan/php" -n "${extensions[@]}" -d extension="$1" \
        -d mailqueue.capture_mail=1 -d mailqueue.database="$work/mail.db" \
        "$MQ_ROOT/tests/torture/reentry.php" "$2" "$work" >"$work/output" 2>&1 || status=$?
    # 3: exit() of a round; 255: an exception or a fatal error that PHP reports.
    if [[ $status =~ ^(0|3|255)$ ]] &&
        ! grep -qE "Sanitizer|runtime error|a child ended" "$work/output"; then
        status=0
    else
        say "seed $2: exit $status"
        head -n 40 "$work/output"
        status=1
    fi
    rm -rf "$work"
    return $status
}

REENTRY_ROUNDS=10
reentry() {
    local library=$1
    export MQ_ROOT MQ_BUILD
    export -f say reentry_round
    seq "$REENTRY_ROUNDS" | xargs -I{} -P "${MQ_JOBS:-2}" bash -c 'reentry_round "$1" "$2"' - \
        "$library" {}
}

part_asan() {
    local so dir=$MQ_BUILD/asan report reports
    local -a units=() phpts=()
    for report in "$@"; do
        case $report in
        *.phpt | */* | tests) phpts+=("$report") ;;
        *) units+=("$report") ;;
        esac
    done
    mkdir -p "$dir"
    if [ $# = 0 ] || [ ${#units[@]} -gt 0 ]; then
        run_unit unit-asan asan/unit ${units[@]+"${units[@]}"}
    fi
    if [ $# -gt 0 ] && [ ${#phpts[@]} = 0 ]; then
        return
    fi
    if ! so=$("$MQ_ROOT/tools/build" sanitize) || ! write_asan_php "$dir"; then
        fail asan/build "the build with sanitizers failed"
        return
    fi
    check_sanitizers "$dir" "$so" || fail asan/probe "see $dir/probe.log"
    [ $# -gt 0 ] || check asan/reentry reentry "$so"
    mapfile -t phpts < <(asan_phpts ${phpts[@]+"${phpts[@]}"})
    # Not below the tree, which another user may not be able to enter.
    reports=$(mktemp -d "${TMPDIR:-/tmp}/mailqueue-asan.XXXXXX")
    chmod 1777 "$reports"
    MAILQUEUE_SANITIZER_LOG=$reports/report MQ_PHPT_TIMEOUT=${MQ_PHPT_TIMEOUT:-800} \
        run_phpt asan/phpt "$so" "$dir/php" ${phpts[@]+"${phpts[@]}"}
    for report in "$reports"/*; do
        [ -e "$report" ] || continue
        fail "asan/report:${report##*/}" "$(head -n 60 "$report")"
    done
    rmdir "$reports" 2>/dev/null || say "asan: the reports are in $reports"
}
