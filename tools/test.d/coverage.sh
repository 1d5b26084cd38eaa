# tools/test coverage: which lines and branches of the C sources the unit tests and the PHPT run.

# gcov_documents DIR: what gcov knows of each object below it, one JSON document a line.
gcov_documents() {
    find "$1" -path '*/.libs/*.gcno' -print0 |
        (cd "$1" && xargs -0 gcov --json-format --stdout --branch-probabilities)
}

# The unit tests link the extension's own objects, so that all count in the same files. A process
# that runs as a user who cannot write them, or that is killed, counts nothing.
part_coverage() {
    local so dir=$MQ_BUILD/coverage
    if ! so=$("$MQ_ROOT/tools/build" coverage); then
        fail coverage/build "the build with gcov's counters failed"
        return
    fi
    find "$dir" -name '*.gcda' -exec rm -f {} +
    export GCOV_ERROR_FILE=/dev/null
    run_unit unit-coverage coverage/unit
    run_phpt coverage/phpt "$so" "$("$PHP_CONFIG" --php-binary)" "$@"
    unset GCOV_ERROR_FILE
    gcov_documents "$dir" 2>"$dir/gcov.log" |
        php "$MQ_ROOT/tools/test.d/coverage.php" "$dir/files.txt" ||
        fail coverage/report "$(tail -n 20 "$dir/gcov.log")"
    say "The same for each file: $dir/files.txt"
}
