# tools/test coverage: which lines and branches of the C sources the unit tests and the PHPT run.

# counters DIR SUFFIX: gcov's files beside the objects of today's sources; objects of removed
# sources may lie there too.
counters() {
    { core_sources; php_sources; } | sed -E "s#([^/]*)\\.c\$#.libs/\\1.$2#; s#^#$1/#"
}

# gcov_documents DIR: gcov's data for each object, one JSON document a line.
gcov_documents() {
    find "$1" -name '*.gcda' -empty -delete
    counters "$1" gcno | (cd "$1" && xargs gcov --json-format --stdout --branch-probabilities)
}

# make_counters DIR: empty files for gcov's counts, which processes of other users may write too.
make_counters() {
    local file
    find "$1" -name '*.gcda' -exec rm -f {} +
    while read -r file; do
        install -m 666 /dev/null "$file"
    done < <(counters "$1" gcda)
}

# The unit tests link the extension's own objects, so that all count in the same files. A killed
# process counts nothing.
part_coverage() {
    local so dir=$MQ_BUILD/coverage
    if ! so=$("$MQ_ROOT/tools/build" coverage); then
        fail coverage/build "the build with gcov's counters failed"
        return
    fi
    make_counters "$dir"
    run_unit unit-coverage coverage/unit
    run_phpt coverage/phpt "$so" "$("$PHP_CONFIG" --php-binary)" "$@"
    gcov_documents "$dir" 2>"$dir/gcov.log" |
        php "$MQ_ROOT/tools/test.d/coverage.php" "$dir/files.txt" ||
        fail coverage/report "$(tail -n 20 "$dir/gcov.log")"
    say "The same for each file: $dir/files.txt"
}
