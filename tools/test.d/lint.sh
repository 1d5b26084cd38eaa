# tools/test lint: checks of the sources without running them. Each check is a test.

WARNINGS="-Wno-deprecated-declarations -Wall -Wextra -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wpointer-arith -Wundef -Werror"
CLANG_FORMAT_MAJOR=14

# config.m4's compiler flags: flags added here must not stand in for what config.m4 lacks.
config_flags() { sed -n 's/^MAILQUEUE_CFLAGS = //p' "$MQ_BUILD/plain/Makefile"; }

# compile_all COMPILER FLAGS -- FILE...: compiles every file for its warnings; keeps nothing.
compile_all() {
    local -a command=()
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    shift
    [ $# -gt 0 ] || return 0
    # shellcheck disable=SC2086
    printf '%s\0' "$@" | xargs -0 -n 1 -P "${MQ_JOBS:-2}" \
        "${command[@]}" -O2 $(config_flags) -Isrc -I. $WARNINGS
}

# gcc finds some things only when it optimises, so it compiles; clang reads.
# The files outside src/php see no PHP include path here: that is a check of its own.
clang_core() {
    # shellcheck disable=SC2046
    compile_all clang -fsyntax-only $(pkg-config --cflags sqlite3 libcurl) $(optional_flags) -- "$@"
}

# Warnings in PHP's own headers are not ours to fix.
compile_php() {
    local flags compiler=$1
    flags="$("$PHP_CONFIG" --includes | sed 's/-I/-isystem /g') -DZEND_COMPILE_DL_EXT=1"
    shift
    # shellcheck disable=SC2086
    case $compiler in
    gcc) compile_all gcc -c -o /dev/null $flags -- "$@" ;;
    clang) compile_all clang -fsyntax-only $flags -- "$@" ;;
    esac
}

# gcc's warnings for the sources outside src/php are in the log of .build/unit, which is compiled
# with the same flags.
gcc_core() {
    mkdir -p "$MQ_BUILD/unit"
    build_unit unit "$MQ_BUILD/unit/libmailqueue.a" && return
    cat "$MQ_BUILD/unit.log"
    return 1
}

lint_warnings() {
    # shellcheck disable=SC2046
    case $1 in
    gcc) gcc_core && compile_php gcc $(php_sources) ;;
    clang) clang_core $(core_sources) && compile_php clang $(php_sources) ;;
    esac
}

# The benchmarks' C programs, which no test runs.
lint_bench() {
    local file
    for file in bench/*.c; do
        gcc -std=gnu11 -D_GNU_SOURCE -Isrc -Wall -Wextra -Werror -fsyntax-only "$file" || return
    done
}

# A header that needs another header before it fails here.
lint_headers() {
    local status=0 flags
    find src -name '*.h' ! -path 'src/php/*' | LC_ALL=C sort |
        xargs -P "${MQ_JOBS:-2}" -I{} sh -c 'echo "#include \"${1#src/}\"" | gcc -fsyntax-only \
            -O2 $2 -Isrc -Wall -Wextra -Werror -x c -' - {} "$(config_flags)" || status=1
    flags="$(config_flags) $("$PHP_CONFIG" --includes)"
    { ls php_mailqueue.h && find src/php -name '*.h'; } | LC_ALL=C sort |
        xargs -P "${MQ_JOBS:-2}" -I{} sh -c 'printf "#include \"php.h\"\n#include \"%s\"\n" \
            "${1#src/}" | gcc -fsyntax-only -O2 $2 -Isrc -I. -x c -' \
            - {} "$flags" || status=1
    return $status
}

# lint_format [FILE...]: all files without arguments.
lint_format() {
    local -a files=("$@")
    [ $# -gt 0 ] || mapfile -t files < <(all_c_files)
    "$CLANG_FORMAT" --dry-run -Werror "${files[@]}" >"$MQ_BUILD/format.log" 2>&1 && return
    sed -n -E 's/: error: code should be clang-formatted.*/: clang-format -i changes it/p' \
        "$MQ_BUILD/format.log" | sort -u -t: -k1,1 | grep . || cat "$MQ_BUILD/format.log"
    return 1
}

lint_arginfo() {
    local work status
    work=$(mktemp -d)
    generate_arginfo "$work" &&
        diff -u stubs/mailqueue_arginfo.h "$work/mailqueue_arginfo.h" >>"$work/log" &&
        diff -u stubs/mailqueue_methods.h "$work/mailqueue_methods.h" >>"$work/log"
    status=$?
    [ $status = 0 ] || {
        echo "The headers in stubs/ are not what gen_stub.php makes of the stub:"
        head -n 40 "$work/log"
        echo "Run tools/arginfo, which writes them."
    }
    rm -rf "$work"
    return $status
}

# Another PHP's generator lays the file out differently, so only 8.2's is compared.
check_arginfo() {
    if [ "$("$PHP_CONFIG" --phpapi)" != 20220829 ]; then
        skip lint/arginfo "the generator of PHP 8.2 is pinned, here is $("$PHP_CONFIG" --version)"
    else
        check lint/arginfo lint_arginfo
    fi
}

check_format() {
    local major
    CLANG_FORMAT=$(command -v "clang-format-$CLANG_FORMAT_MAJOR" || command -v clang-format)
    major=$("$CLANG_FORMAT" --version 2>/dev/null | sed -E 's/.*version ([0-9]+).*/\1/')
    if [ "$major" = "$CLANG_FORMAT_MAJOR" ]; then
        check lint/format lint_format "$@"
    else
        skip lint/format "clang-format $CLANG_FORMAT_MAJOR decides, here is ${major:-none}"
    fi
}

# The tests' oracles and scripts may have more branches.
lint_complexity() {
    # shellcheck disable=SC2046
    tools/lint-size complexity $(core_sources) $(php_sources)
}

lint_size() {
    # shellcheck disable=SC2046
    tools/lint-size "$1" $(all_c_files)
}

# Prints control flow without braces.
lint_braces() {
    # shellcheck disable=SC2046
    ! grep -nE '^[[:space:]]*(((if|for|while) \(.*\))|(\} )?else)$' $(core_sources) $(php_sources)
}

# Prints what leaves the loop of a transaction, which only mq_tx_next() may end
# (src/queue/sql/transaction.h).
lint_transactions() {
    # shellcheck disable=SC2046
    awk '{ match($0, /^ */); at = RLENGTH }
        /while \(.*mq_tx_next\(/ { loop = at; inner = -1; inside = 1; next }
        inside && inner < 0 && /^ *(for|while|switch) \(/ { inner = at }
        inside && /^ *}/ && at == inner { inner = -1 }
        inside && /^ *}/ && at == loop { inside = 0 }
        inside && (/(^|[^A-Za-z_])(return|goto|MQ_TRY)[^A-Za-z_]/ || (inner < 0 && /^ *break;/)) {
            print FILENAME ":" FNR ": " $0
            found = 1
        }
        END { exit found }' $(core_sources) $(php_sources)
}

lint_php_size() {
    local -a files
    mapfile -t files < <(find bin cli web tools examples integrations bench -type f |
        xargs -r grep -IlE '^#!.*\bphp\b|^<\?php' | LC_ALL=C sort)
    tools/lint-size "$1" "${files[@]}"
}

lint_script_columns() {
    local -a files
    mapfile -t files < <(find bin cli tools examples web integrations bench .ci tests/lib -type f \
        ! -name '*.[ch]' ! -name '*.md' 2>/dev/null |
        xargs -r grep -IlE '^#!|^<\?php|^# ' | LC_ALL=C sort)
    tools/lint-size columns "${files[@]}"
}

lint_php_syntax() {
    local file output status=0
    while IFS= read -r file; do
        output=$(php -n -l "$file" 2>&1) || {
            printf '%s: %s\n' "$file" "$output"
            status=1
        }
    done < <(find bin cli stubs tools examples web integrations bench tests -type f 2>/dev/null |
        xargs -r grep -IlE '^#!.*\bphp\b|^<\?php' | grep -v '\.phpt$' | LC_ALL=C sort)
    return $status
}

lint_shell_syntax() {
    local file status=0
    while IFS= read -r file; do
        bash -n "$file" || status=1
    done < <(find bin tools examples bench tests .ci -type f 2>/dev/null |
        xargs -r grep -IlE '^#!.*\b(ba)?sh\b' | LC_ALL=C sort)
    for file in tools/lib.sh tools/test.d/*.sh; do
        bash -n "$file" || status=1
    done
    return $status
}

# Every exported symbol is declared in a header, and used by another file or a unit test. The
# arginfo declares methods of PHP classes (zim_…).
lint_exports() {
    local work object name symbol status=0
    work=$(mktemp -d)
    # Objects of removed sources may still lie there, so the tree says which objects count.
    { core_sources; php_sources; } | sed -E 's#([^/]*)\.c$#.libs/\1.o#' >"$work/objects"
    (cd "$MQ_BUILD/plain" && xargs nm -A -g <"$work/objects") >"$work/symbols"
    [ -d "$MQ_BUILD/unit/tests" ] &&
        find "$MQ_BUILD/unit/tests" -name '*.o' -exec nm -A -u {} + >>"$work/symbols"
    awk '$(NF-1) == "U" { print $NF }' "$work/symbols" | sort -u >"$work/used"
    awk '$(NF-1) ~ /^[TDRBC]$/ { sub(/:.*/, "", $1); print $1, $NF }' "$work/symbols" |
        sort -u >"$work/given"
    find src php_mailqueue.h stubs -name '*.h' -exec cat {} + |
        grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$work/announced"
    while read -r object symbol; do
        # PHP's macros declare these in their own way.
        case $symbol in
        get_module | zim_* | zif_* | mailqueue_module_entry | mailqueue_globals) continue ;;
        esac
        name=$(sed -E 's#/\.libs/#/#; s#^\.libs/##; s#\.o$#.c#' <<<"$object")
        grep -qxF "$symbol" "$work/announced" || {
            echo "$name: $symbol is in no header: make it static or announce it"
            status=1
        }
        grep -qxF "$symbol" "$work/used" || {
            echo "$name: $symbol is used by no other file and no unit test: make it static"
            status=1
        }
    done <"$work/given"
    [ -s "$work/given" ] || { echo "no object files in .build/plain" && status=1; }
    rm -rf "$work"
    return $status
}

# The flags that config.m4 asks for if the compiler and the linker accept them.
lint_hardening() {
    local status=0
    nm -D --undefined-only "$1" >"$MQ_BUILD/undefined.txt"
    grep -q ' __stack_chk_fail' "$MQ_BUILD/undefined.txt" ||
        { echo "no stack protector" && status=1; }
    grep -q ' __[a-z]*_chk' "$MQ_BUILD/undefined.txt" || { echo "no _FORTIFY_SOURCE" && status=1; }
    readelf -lW "$1" | grep -q GNU_RELRO || { echo "no RELRO" && status=1; }
    readelf -dW "$1" | grep -qE 'BIND_NOW|FLAGS_1.*NOW' ||
        { echo "symbols are bound when they are first used" && status=1; }
    return $status
}

lint_shared_object() {
    local exported
    exported=$(nm -D --defined-only "$1" | awk '{ print $NF }')
    [ "$exported" = get_module ] && return
    printf 'mailqueue.so exports more than get_module:\n%s\n' "$exported"
    return 1
}

part_lint() {
    local so size
    cd "$MQ_ROOT" || return
    if ! so=$(tools/build plain); then
        fail lint/build "the plain build failed"
        return
    fi
    check lint/warnings-gcc lint_warnings gcc
    check lint/warnings-clang lint_warnings clang
    check lint/headers lint_headers
    check_format
    check_arginfo
    check lint/includes-php tools/lint-includes php
    check lint/includes-arrows tools/lint-includes arrows
    check lint/includes-libraries tools/lint-includes libraries
    for size in lines headers functions methods parameters nesting columns; do
        check "lint/size-$size" lint_size "$size"
    done
    check lint/braces lint_braces
    check lint/transactions lint_transactions
    check lint/size-tree tools/lint-size tree
    check lint/size-complexity lint_complexity
    check lint/bench lint_bench
    check lint/size-lines-php lint_php_size lines
    check lint/size-functions-php lint_php_size functions
    check lint/size-columns-scripts lint_script_columns
    check lint/lists tools/lists --check
    check lint/mutants tests/torture/mutants --check
    check lint/docs php tests/docs/run.php --check
    check lint/syntax-php lint_php_syntax
    check lint/syntax-shell lint_shell_syntax
    mkdir -p "$MQ_BUILD/unit"
    build_unit unit
    check lint/exports lint_exports
    check lint/circles tools/lint-circles
    check lint/exported-symbols lint_shared_object "$so"
    check lint/hardening lint_hardening "$so"
    check_other_phps
    check_php_code
}
