# tools/test quick: the checks for a change while it is being made, in under a minute once .build
# is warm.

# One of each kind: a mail stored, claimed, sent, composed, refused; the command; both servers.
QUICK_PHPT="tests/api/signatures.phpt tests/api/worker-smtp.phpt tests/capture/calls.phpt
    tests/claim/manage.phpt tests/claim/settle.phpt tests/cli/manage.phpt tests/cli/status.phpt
    tests/enqueue/fields.phpt tests/enqueue/many.phpt tests/message/fields.phpt
    tests/pdo/transaction.phpt tests/sendmail/message.phpt tests/smtp/bytes.phpt"

# These simulate hours or days, for 4 to 20 seconds each: tools/test unit runs them.
QUICK_NOT_UNIT=" test_hours test_limit test_verdict test_windows_month test_worker_backlog
    test_worker_doubts test_worker_priority test_worker_relay test_worker_relays "

quick_units() {
    local source name
    for source in "$MQ_ROOT"/tests/unit/*/test_*.c; do
        name=$(basename "$source" .c)
        [[ " ${QUICK_NOT_UNIT//$'\n'/ } " == *" $name "* ]] || echo "$name"
    done
}

# Files that differ from the last commit and from main, if there is a main.
changed_files() {
    local base
    base=$(git merge-base HEAD main 2>/dev/null || echo HEAD)
    { git diff --name-only --diff-filter=d "$base" && git ls-files --others --exclude-standard; } |
        LC_ALL=C sort -u
}

part_quick() {
    local size began=$SECONDS
    local -a c src php commands units
    cd "$MQ_ROOT" || return
    if ! tools/build plain >/dev/null; then
        fail quick/build "the plain build failed"
        return
    fi
    mapfile -t c < <(changed_files | grep -E '\.[ch]$' | grep -v '_arginfo\.h$')
    mapfile -t src < <(printf '%s\n' "${c[@]}" | grep -E '^(src/|[^/]+$)')
    mapfile -t php < <(changed_files | grep -E '\.(php|inc)$')
    mapfile -t commands < <(changed_files |
        grep -E '^(bin|cli|web|tools|examples|integrations|bench)/' |
        xargs -r grep -IlE '^#!.*\bphp\b|^<\?php')
    if [ ${#c[@]} -gt 0 ]; then
        check_format "${c[@]}"
        for size in lines headers functions methods parameters nesting columns; do
            check "quick/size-$size" tools/lint-size "$size" "${c[@]}"
        done
    fi
    [ ${#src[@]} = 0 ] || check quick/size-complexity tools/lint-size complexity "${src[@]}"
    if [ ${#commands[@]} -gt 0 ]; then
        for size in lines functions columns; do
            check "quick/size-$size-php" tools/lint-size "$size" "${commands[@]}"
        done
    fi
    [ ${#php[@]} = 0 ] || check quick/syntax-php sh -c \
        'for file; do php -n -l "$file" >/dev/null || exit 1; done' sh "${php[@]}"
    check quick/lists tools/lists --check
    check quick/includes-arrows tools/lint-includes arrows
    mapfile -t units < <(quick_units)
    run_unit unit unit "${units[@]}"
    # shellcheck disable=SC2086
    part_phpt $QUICK_PHPT
    say "quick: $((SECONDS - began)) s"
}
