# tools/test phpt: PHP's run-tests.php over tests/**/*.phpt.

# PHP's own extensions that tests use, if they are not compiled in. PHP runs without any ini file
# (-n), so that tests see the same on every machine.
shared_extensions() {
    local name directory
    directory=$("$PHP_CONFIG" --extension-dir)
    for name in ctype tokenizer mbstring posix pcntl sockets pdo pdo_sqlite pdo_pgsql mysqlnd \
        mysqli pdo_mysql sqlite3 curl phar; do
        if [ -f "$directory/$name.so" ] && ! php -n -m | grep -qix "$name"; then
            printf -- '-d\nextension=%s\n' "$name"
        fi
    done
}

# Tests run in a copy, because run-tests.php writes beside each test: nothing lands in the tree.
# The copy looks like the tree: all else in it is a link.
copy_of_tests() {
    local run=$1 entry
    mkdir -p "$run"
    for entry in "$MQ_ROOT"/* "$MQ_ROOT"/.build; do
        case ${entry##*/} in
        tests) cp -a "$entry" "$run/tests" ;;
        *) ln -s "$entry" "$run/" ;;
        esac
    done
}

# The PHPT files for these arguments, relative to the root; all files without arguments.
select_phpt() {
    local argument
    [ $# -gt 0 ] || set -- "$MQ_ROOT/tests"
    for argument in "$@"; do
        [ -e "$argument" ] || argument=$MQ_ROOT/$argument
        argument=$(realpath -e --relative-to="$MQ_ROOT" "$argument") || continue
        (cd "$MQ_ROOT" && find "$argument" -name '*.phpt')
    done | LC_ALL=C sort -u
}

# Slow tests come first, so that none of them runs alone at the end.
slow_first() {
    awk '{ rank = 2 }
        /^tests\/(smtp|sendmail|capture|pgsql|copy|pdo)\// { rank = 1 }
        /\/(fork|one_mail|faults_dot|worker-fatal|many|sending)\.phpt$/ { rank = 0 }
        /^tests\/(sendmail\/message|pdo\/(attributes|kill))\.phpt$/ { rank = 0 }
        { print rank, $0 }' | LC_ALL=C sort -s -n -k 1,1 | cut -d ' ' -f 2-
}

# run-tests.php sorts the files and hands them out in batches of 33: with both, one process has most
# of the slow ones. This copy keeps the order that it is given, and hands out one file at a time.
copy_of_run_tests() {
    sed -e 's/(\$shuffle ? 4 : 32)/0/' -e '/^ *usort(\$test_files, "test_sort");$/d' \
        "$(php_build_file run-tests.php)" >"$1"
}

# record_phpt LABEL RUN: one result per line of run-tests' list.
record_phpt() {
    local label=$1 run=$2 result path name
    while IFS=$'\t' read -r result path; do
        name=$label/${path#"$run/"}
        case $result in
        PASSED) pass ;;
        SKIPPED) skip "$name" "$(sed -n "s|^SKIP .*\[${path#"$run/"}\] *\(reason: \)\?||p" \
            "$run/output" | head -n 1)" ;;
        *) fail "$name" "$result
$(head -n "${MQ_DIFF_LINES:-60}" "${path%.phpt}.diff" 2>/dev/null)" ;;
        esac
    done <"$run/results"
}

# run_phpt LABEL SO PHP FILE...: PHP is the program that is tested.
run_phpt() {
    local label=$1 so=$2 php=$3 run run_tests quiet before=$((passed + failed + ${#skips[@]}))
    local -a options selected
    shift 3
    mapfile -t selected < <(select_phpt "$@" | slow_first)
    if [ ${#selected[@]} = 0 ]; then
        [ $# = 0 ] || fail "$label" "no PHPT file in: $*"
        return
    fi
    # Failed runs are kept for a look; those older than an hour are removed.
    find "$MQ_BUILD" -maxdepth 1 -name 'phpt-run.*' -mmin +60 -exec rm -rf {} +
    run=$(mktemp -d "$MQ_BUILD/phpt-run.XXXXXX")
    chmod 755 "$run"
    copy_of_tests "$run"
    # A build started meanwhile would overwrite the library that the running tests use.
    hold_lock build
    cp "$so" "$run/mailqueue.so"
    drop_lock
    so=$run/mailqueue.so
    mapfile -t options < <(shared_extensions)
    run_tests=$run/run-tests.php
    copy_of_run_tests "$run_tests"
    # No worker runs for most tests' mail: enqueue() is to ask for none meanwhile (mailStaleAfter).
    quiet=${TMPDIR:-/tmp}/mailqueue-$(id -u)
    mkdir -p -m 700 "$quiet"
    touch -d '+50 minutes' "$quiet"/stale-{0..3}{{0..9},{a..f}}{{0..9},{a..f}}
    # Copies that tests make once for the whole run: MQ_COPIES, see tests/lib/pgsql.inc.
    mkdir "$run/copies"
    (cd "$run" && env MQ_COPIES="$run/copies" NO_INTERACTION=1 REPORT_EXIT_STATUS=1 NO_COLOR=1 \
        TEST_PHP_EXECUTABLE="$php" TEST_PHP_SRCDIR="$run" MAILQUEUE_SO="$so" \
        php -n "$run_tests" -n -q "-j${MQ_JOBS:-4}" --no-color --no-progress \
        --set-timeout "${MQ_PHPT_TIMEOUT:-900}" -W "$run/results" \
        "${options[@]}" -d "extension=$so" "${selected[@]}") >"$run/output" 2>&1 </dev/null
    rm -rf "$run/copies"
    record_phpt "$label" "$run"
    if [ $((passed + failed + ${#skips[@]} - before)) != ${#selected[@]} ]; then
        fail "$label/run-tests" "results for $((passed + failed + ${#skips[@]} - before)) of\
 ${#selected[@]} files
$(tail -n 40 "$run/output")"
    fi
    if grep -qE '^(FAILED|BORKED|LEAKED|WARNED|XFAILED|XLEAKED)' "$run/results"; then
        say "$label: outputs and diffs are in $run/tests"
    else
        rm -rf "$run"
    fi
}

part_phpt() {
    local so
    if ! so=$("$MQ_ROOT/tools/build" plain); then
        fail phpt/build "the plain build failed"
        return
    fi
    run_phpt phpt "$so" "$("$PHP_CONFIG" --php-binary)" "$@"
}
