# tools/test unit: every tests/unit/*/test_*.c, linked with all sources that do not use PHP.

# Sources are compiled once for several parts: .build/unit also serves lint, which needs the
# warnings of a gcc that optimises, and mime; .build/unit-asan is clang's, whose
# UndefinedBehaviorSanitizer knows faults that gcc's does not (NULL + 0). Without clang it takes the
# sanitized extension's objects, and compiles the sources itself where that does not build.
set_unit_options() {
    case $1 in
    unit) unit_options=(WARNINGS="-O2 ${WARNINGS//$'\n'/ }") ;;
    unit-asan)
        unit_options=()
        if has_clang_sanitizers; then
            unit_options=(CC=clang)
            return
        fi
        "$MQ_ROOT/tools/build" sanitize >/dev/null 2>&1 &&
            unit_options=(OBJECTS="$(core_objects "$MQ_BUILD/sanitize" .libs/ | tr '\n' ' ')")
        ;;
    unit-coverage)
        unit_options=(OBJECTS="$(core_objects "$MQ_BUILD/coverage" .libs/ | tr '\n' ' ')")
        ;;
    esac
}

# Its runtimes are a package of their own.
has_clang_sanitizers() {
    echo 'int main(void) { return 0; }' |
        clang -fsanitize=address,undefined -x c -o /dev/null - >/dev/null 2>&1
}

make_unit() {
    local variant=$1
    shift
    make -C "$MQ_ROOT/tests/unit" VARIANT="$variant" "${unit_options[@]}" "$@"
}

# core_objects DIR [SUBDIRECTORY]: the objects of the sources that do not use PHP.
core_objects() {
    core_sources | sed -E "s#^(.*/)([^/]*)\.c\$#$1/\1${2:-}\2.o#"
}

# The variants' objects lie side by side: .build/unit, .build/unit-asan.
build_unit() {
    local variant=$1
    shift
    hold_lock "$variant"
    set_unit_options "$variant"
    make_unit "$variant" -k -j"${MQ_JOBS:-2}" "$@" >"$MQ_BUILD/$variant.log" 2>&1
    local status=$?
    drop_lock
    return $status
}

reasons_below() {
    awk -v line="$1" 'found && /^(not )?ok / { exit }
        found { print }
        $0 == line { found = 1 }' "$2" | head -n 20
}

# Reads TAP from the file $2 and records each test of the program $1; $3 is its exit code.
# cmocka writes "not ok 3 # SKIP name" for a skipped test, and the reasons of a failure below it.
record_tap() {
    local program=$1 tap=$2 code=$3 planned=0 seen=0 before=$failed line name
    while IFS= read -r line; do
        case $line in
        1..*) planned=$((planned + ${line#1..})) ;;
        "ok "[0-9]* | "not ok "[0-9]*)
            seen=$((seen + 1))
            name=$(sed -E 's/^(not )?ok [0-9]+ *-? *//; s/^# *(skip|SKIP) *//' <<<"$line")
            case $line in
            *'# SKIP'* | *'# skip'*) skip "$program/$name" "the test says so" ;;
            "not ok "*) fail "$program/$name" "$(reasons_below "$line" "$tap")" ;;
            *) pass ;;
            esac
            ;;
        esac
    done <"$tap"
    if [ "$seen" -lt "$planned" ] || { [ "$code" != 0 ] && [ "$failed" = "$before" ]; }; then
        fail "$program" "ended with code $code after $seen of $planned tests
$(tail -n 40 "$tap")"
    elif [ "$seen" = 0 ]; then
        fail "$program" "ran no test"
    fi
}

# Whether the program $1 is among the names that follow; without names every program is.
selected_unit() {
    local name=$1 wanted
    shift
    [ $# -gt 0 ] || return 0
    for wanted in "$@"; do
        [ "$(basename "$wanted" .c)" != "$name" ] || return 0
    done
    return 1
}

# run_unit VARIANT LABEL [NAME...]: the programs run side by side, then their results are read.
run_unit() {
    local variant=$1 label=$2 source name results built=yes
    local -a sources=("$MQ_ROOT"/tests/unit/*/test_*.c) ready=()
    shift 2
    mkdir -p "$MQ_BUILD/$variant"
    build_unit "$variant" || built=no
    for source in "${sources[@]}"; do
        name=$(basename "$source" .c)
        [ -e "$source" ] && selected_unit "$name" "$@" || continue
        if [ $built = no ] && ! make_unit "$variant" -q "$MQ_BUILD/$variant/$name" \
            >/dev/null 2>&1; then
            fail "$label/$name" "does not build:
$(grep -E 'error:|undefined reference|warning:|No rule|\*\*\*' "$MQ_BUILD/$variant.log" |
                head -n 20)"
            continue
        fi
        ready+=("$name")
    done
    results=$(mktemp -d "$MQ_BUILD/$variant/results.XXXXXX")
    [ ${#ready[@]} = 0 ] || printf '%s\0' "${ready[@]}" |
        (cd "$MQ_BUILD/$variant" && CMOCKA_MESSAGE_OUTPUT=TAP xargs -0 -I{} -P "${MQ_JOBS:-2}" \
            sh -c 'timeout -k 5 "$3" "./$1" >"$2/$1" 2>&1 </dev/null; echo $? >"$2/$1.code"' \
            sh {} "$results" "${MQ_UNIT_TIMEOUT:-900}")
    for name in ${ready[@]+"${ready[@]}"}; do
        record_tap "$label/$name" "$results/$name" "$(cat "$results/$name.code")"
    done
    rm -rf "$results"
}

part_unit() { run_unit unit unit "$@"; }
