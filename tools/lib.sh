# Shared by the scripts in tools/; sourced, never run.

MQ_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
MQ_BUILD=$MQ_ROOT/.build
export MQ_ROOT MQ_BUILD

say() { printf '%s\n' "$*"; }
note() { printf '%s\n' "$*" >&2; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Runs a command with its output in a log, which is printed only when the command fails.
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
}

# Takes the lock named $1 until this shell ends, because several builds may be started in one tree
# at once.
hold_lock() {
    mkdir -p "$MQ_BUILD"
    exec {MQ_LOCK_FD}>"$MQ_BUILD/$1.lock"
    flock "$MQ_LOCK_FD"
}

drop_lock() { exec {MQ_LOCK_FD}>&-; }

# The sources as lists of paths relative to the root, sorted the same everywhere.
core_sources() {
    (cd "$MQ_ROOT" && find src -name '*.c' ! -path 'src/php/*' | LC_ALL=C sort)
}
php_sources() {
    (cd "$MQ_ROOT" && { [ -f mailqueue.c ] && echo mailqueue.c
        find src/php -name '*.c'; } | LC_ALL=C sort)
}
all_c_files() {
    (cd "$MQ_ROOT" && { ls mailqueue.c php_mailqueue.h 2>/dev/null
        find src tests bench -name '*.[ch]' 2>/dev/null; } | LC_ALL=C sort)
}

PHP_CONFIG=${PHP_CONFIG:-php-config}

# A file of PHP's build directory (run-tests.php, gen_stub.php); Debian keeps one per PHP API.
php_build_file() {
    local prefix api
    prefix=$("$PHP_CONFIG" --prefix)
    api=$("$PHP_CONFIG" --phpapi)
    ls "$prefix/lib/php/$api/build/$1" "$prefix/lib/php/build/$1" 2>/dev/null | head -n 1
}

PHP_PARSER=/usr/share/php/PhpParser

# generate_arginfo DIR: makes DIR/mailqueue_arginfo.h and DIR/mailqueue_methods.h, which has its
# prototypes for the files that have the methods, with the generator's words in DIR/log.
# gen_stub.php downloads PHP-Parser unless it finds it beside itself, in a directory with the
# version it wants in its name: so it runs as a copy with a link to Debian's.
generate_arginfo() {
    local work=$1 generator version
    generator=$(php_build_file gen_stub.php)
    [ -n "$generator" ] && [ -d "$PHP_PARSER" ] || {
        echo "gen_stub.php (php-dev) or $PHP_PARSER (php-parser) is missing" >"$work/log"
        return 1
    }
    version=$(sed -n 's/^ *\$version = "\(.*\)";$/\1/p' "$generator" | head -n 1)
    mkdir -p "$work/PHP-Parser-$version/lib"
    ln -s "$PHP_PARSER" "$work/PHP-Parser-$version/lib/PhpParser"
    cp "$generator" "$work/gen_stub.php"
    cp "$MQ_ROOT/stubs/mailqueue.stub.php" "$work/"
    (cd "$work" && php gen_stub.php mailqueue.stub.php) >"$work/log" 2>&1 &&
        [ -f "$work/mailqueue_arginfo.h" ] &&
        {
            printf '/* This is a generated file, edit the .stub.php file instead. */\n'
            printf '#ifndef MAILQUEUE_METHODS_H\n#define MAILQUEUE_METHODS_H\n\n'
            printf '#include "php.h"\n\n'
            grep '^ZEND_METHOD' "$work/mailqueue_arginfo.h"
            printf '\n#endif\n'
        } >"$work/mailqueue_methods.h"
}

# The optional libraries of config.m4: module:macro of the C sources.
OPTIONAL_LIBRARIES="libidn2:MQ_HAVE_LIBIDN2 libxml-2.0:MQ_HAVE_LIBXML2 libcrypto:MQ_HAVE_OPENSSL"

optional_flags() {
    local pair
    for pair in $OPTIONAL_LIBRARIES; do
        pkg-config --exists "${pair%%:*}" || continue
        printf '%s -D%s=1 ' "$(pkg-config --cflags "${pair%%:*}")" "${pair##*:}"
    done
}
optional_libraries() {
    local pair
    for pair in $OPTIONAL_LIBRARIES; do
        pkg-config --exists "${pair%%:*}" && pkg-config --libs "${pair%%:*}" || true
    done
}
