# tools/test lint: the sources against the headers of every PHP that docs/tested.md names, as far
# as their packages can be had today. They are unpacked, not installed.

. "$MQ_ROOT/tools/chroot.sh"

PHP_CLAIMED="8.1 8.2 8.3 8.4 8.5 8.6"

# A separate apt with other suites: the machine's own is not changed.
headers_apt() {
    local program=$1 state=$MQ_CACHE/apt
    shift
    "$program" -qq -o Dir::State="$state" -o Dir::State::status="$state/status" \
        -o Dir::Cache="$state/cache" -o Dir::Etc::SourceList="$state/sources.list" \
        -o Dir::Etc::SourceParts=- -o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

# The lists, not older than a day.
headers_update() {
    local state=$MQ_CACHE/apt
    [ -z "$(find "$state/updated" -mmin -1440 2>/dev/null)" ] || return 0
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    touch "$state/status"
    { sources_of trixie; sources_of unstable; } 2>&1 | grep '^deb ' >"$state/sources.list" &&
        headers_apt apt-get update && touch "$state/updated"
}

# headers_unpack VERSION: prints the directory that contains PHP's headers. The suite that has the
# package changes with time, so the newest of all counts.
headers_unpack() {
    local version directory=$MQ_CACHE/headers package
    version=$(headers_apt apt-cache show "php$1-dev" 2>/dev/null | sed -n 's/^Version: //p' |
        sort -rV | head -n 1)
    [ -n "$version" ] || return
    directory=$directory/php$1-dev_$version
    if [ ! -d "$directory/usr/include" ]; then
        package=$(mktemp -d)
        (cd "$package" && headers_apt apt-get download "php$1-dev=$version") &&
            mkdir -p "$directory.$$" && dpkg-deb -x "$package"/*.deb "$directory.$$" &&
            mv -T "$directory.$$" "$directory"
        rm -rf "$package" "$directory.$$"
    fi
    ls -d "$directory"/usr/include/php/*
}

# A substitute for 8.1, which no suite has: the headers here with the number of 8.1, so that our
# guards take its side. It does not show what 8.1's own headers lack.
headers_stand_in() {
    local here directory=$MQ_BUILD/headers/8.1
    here=$("$PHP_CONFIG" --include-dir)
    rm -rf "$directory"
    mkdir -p "${directory%/*}"
    cp -r "$here" "$directory"
    sed -i -E 's/(PHP_VERSION_ID) .*/\1 80100/; s/(PHP_MINOR_VERSION) .*/\1 1/' \
        "$directory/main/php_version.h"
    echo "$directory"
}

compile_with_headers() {
    local directory=$1 part flags=""
    for part in "" /main /TSRM /Zend /ext /ext/date/lib; do
        flags="$flags -isystem $directory$part"
    done
    # shellcheck disable=SC2046,SC2086
    compile_all gcc -fsyntax-only -DZEND_COMPILE_DL_EXT=1 $flags -- $(php_sources)
}

check_other_phps() {
    local version directory updated=yes
    headers_update >"$MQ_BUILD/headers.log" 2>&1 || updated=no
    for version in $PHP_CLAIMED; do
        [ "$version" != "$("$PHP_CONFIG" --version | cut -d. -f1,2)" ] || continue
        directory=""
        case $version in
        8.1) directory=$(headers_stand_in) ;;
        *) directory=$(headers_unpack "$version" 2>>"$MQ_BUILD/headers.log") ;;
        esac
        if [ -d "$directory" ]; then
            check "lint/php-$version" compile_with_headers "$directory"
        elif [ $updated = no ]; then
            skip "lint/php-$version" "the lists of Debian's packages could not be read"
        else
            skip "lint/php-$version" "no suite of Debian has php$version-dev"
        fi
    done
}
