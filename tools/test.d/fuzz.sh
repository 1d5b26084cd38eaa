# tools/test fuzz [NAME...]: every tests/fuzz/fuzz_*.c under libFuzzer for a fixed number of runs
# from a fixed seed, so that the result is the same on every machine. tools/torture fuzz runs them
# for a time, from another seed each time.

# About 20 seconds of a core each, at most 40.
fuzz_runs() {
    case $1 in
    key | record) echo 4000 ;;
    session) echo 10000 ;;
    template) echo 60000 ;;
    repair | rules | seven_bit) echo 30000 ;;
    html | reply) echo 100000 ;;
    dsn | json) echo 200000 ;;
    envelope) echo 400000 ;;
    *) echo 300000 ;;
    esac
}

# One line of a run: "#161226 DONE   cov: 536 ft: 2429 …"
fuzz_summary() {
    sed -n -E 's/^#([0-9]+)[[:space:]]+DONE +cov: ([0-9]+) .*/\1 runs, \2 edges/p' "$1"
}

# run_fuzz NAME DIR SEED LIMIT SECONDS: with libFuzzer's option LIMIT, killed after SECONDS; output,
# exit code and crashing inputs land in DIR. What the run finds stays out of the tree: the corpus is
# only read, in one order. Addresses of functions are part of what guides libFuzzer, so these are
# fixed too, where that is allowed.
run_fuzz() {
    local name=$1 dir=$2 corpus fixed=
    mkdir -p "$dir/found" "$dir/tmp"
    setarch -R true 2>/dev/null && fixed="setarch -R"
    corpus=$(find "$MQ_ROOT/tests/fuzz/corpus/$name" -type f | LC_ALL=C sort | paste -s -d ,)
    printf %s "$corpus" >"$dir/corpus"
    TMPDIR=$dir/tmp ASAN_OPTIONS=quarantine_size_mb=32 timeout -k 10 "$5" $fixed \
        "$MQ_BUILD/fuzz/fuzz_$name" "$4" -seed="$3" -reload=0 \
        -timeout=10 -rss_limit_mb=1024 -max_len=10000 -artifact_prefix="$dir/" \
        -dict="$MQ_ROOT/tests/fuzz/fuzz.dict" -seed_inputs="@$dir/corpus" "$dir/found" \
        >"$dir/output" 2>&1 </dev/null
    echo $? >"$dir/code"
}

# The reasons of a failure: what was reported, where, and the input to run again.
fuzz_report() {
    local name=$1 dir=$2 input
    grep -m 1 -n -E 'required:|runtime error:|ERROR: |: error' "$dir/output"
    grep -E '^ +#[0-9]+ .* in ' "$dir/output" | grep -v -E 'fuzzer::|__interceptor|__sanitizer' |
        head -n 12
    for input in "$dir"/crash-* "$dir"/leak-* "$dir"/timeout-* "$dir"/oom-*; do
        [ -f "$input" ] || continue
        say "${input##*/}: base64 -d >input <<<$(head -c 4096 "$input" | base64 -w 0)" \
            "&& .build/fuzz/fuzz_$name input"
    done
    [ "$(find "$dir" -maxdepth 1 -name '*-*' | wc -l)" -gt 0 ] || tail -n 20 "$dir/output"
}

# A target that runs nothing, or whose library counts no edges, would find nothing and pass.
record_fuzz() {
    local name=$1 dir=$2 code runs edges
    code=$(cat "$dir/code" 2>/dev/null || echo none)
    read -r runs _ edges _ <<<"$(fuzz_summary "$dir/output")"
    if [ "$code" != 0 ]; then
        fail "fuzz/$name" "ended with code $code
$(fuzz_report "$name" "$dir")"
    elif [ "${runs:-0}" -lt 1000 ] || [ "${edges:-0}" -lt 50 ]; then
        fail "fuzz/$name" "only ${runs:-0} runs, ${edges:-0} edges
$(tail -n 20 "$dir/output")"
    else
        say "ok      fuzz/$name: $runs runs, $edges edges"
        pass
    fi
}

# clang's runtime for fuzzing is a package of its own (libclang-rt-*-dev).
have_libfuzzer() {
    local probe
    probe=$(mktemp) || return 1
    echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n ? 0 : 0; }' |
        clang -fsanitize=fuzzer -x c -o "$probe" - >"$probe.log" 2>&1
    local status=$?
    rm -f "$probe" "$probe.log"
    return $status
}

# build_fuzz [NAME...]: sets fuzz_names to the targets that were built, of those named or of all.
build_fuzz() {
    local source name built=yes
    fuzz_names=()
    mkdir -p "$MQ_BUILD/fuzz"
    hold_lock fuzz
    make -C "$MQ_ROOT/tests/fuzz" -k -j"${MQ_JOBS:-2}" >"$MQ_BUILD/fuzz.log" 2>&1 || built=no
    drop_lock
    for source in "$MQ_ROOT"/tests/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        selected_unit "$name" "$@" || selected_unit "${name#fuzz_}" "$@" || continue
        if [ $built = no ] && ! make -q -C "$MQ_ROOT/tests/fuzz" "$MQ_BUILD/fuzz/$name" \
            >/dev/null 2>&1; then
            fail "fuzz/${name#fuzz_}" "does not build:
$(grep -E 'error:|undefined reference|warning:|No rule|\*\*\*' "$MQ_BUILD/fuzz.log" |
                head -n 20)"
            continue
        fi
        fuzz_names+=("${name#fuzz_}")
    done
}

part_fuzz() {
    local name dir
    if ! have_libfuzzer; then
        skip fuzz "clang cannot link libFuzzer (Debian packages clang and libclang-rt-<n>-dev)"
        return
    fi
    build_fuzz "$@"
    dir=$(mktemp -d "$MQ_BUILD/fuzz/run.XXXXXX")
    export MQ_ROOT MQ_BUILD
    export -f run_fuzz fuzz_runs
    for name in ${fuzz_names[@]+"${fuzz_names[@]}"}; do
        echo "$name"
    done | xargs -I{} -P "${MQ_JOBS:-2}" \
        bash -c 'run_fuzz "$1" "$2/$1" 1 "-runs=$(fuzz_runs "$1")" 900' - {} "$dir"
    for name in ${fuzz_names[@]+"${fuzz_names[@]}"}; do
        record_fuzz "$name" "$dir/$name"
    done
    rm -rf "$dir"
}
