# tools/test fuzz [NAME...]: every tests/fuzz/fuzz_*.c under libFuzzer for MQ_FUZZ_SECONDS, from the
# seed MQ_FUZZ_SEED: the same one by default, 0 for another each time.

# Those that read what strangers write in a mail, and what makes one, have the most time.
fuzz_seconds() {
    case $1 in
    address | header | composer | envelope) echo "${MQ_FUZZ_SECONDS:-30}" ;;
    *) echo "${MQ_FUZZ_SECONDS:-8}" ;;
    esac
}

# One line of a run: "#161226 DONE   cov: 536 ft: 2429 …"
fuzz_summary() {
    sed -n -E 's/^#([0-9]+)[[:space:]]+DONE +cov: ([0-9]+) .*/\1 runs, \2 edges/p' "$1"
}

# run_fuzz NAME DIR: output, exit code and crashing inputs land in DIR. What the run finds
# stays out of the tree: the corpus there is only read.
run_fuzz() {
    local name=$1 dir=$2 seconds
    seconds=$(fuzz_seconds "$name")
    mkdir -p "$dir/found"
    ASAN_OPTIONS=quarantine_size_mb=32 timeout -k 10 $((seconds + 120)) \
        "$MQ_BUILD/fuzz/fuzz_$name" -max_total_time="$seconds" \
        -seed="${MQ_FUZZ_SEED:-1}" \
        -timeout=5 -rss_limit_mb=1024 -max_len=10000 -artifact_prefix="$dir/" \
        -dict="$MQ_ROOT/tests/fuzz/fuzz.dict" "$dir/found" "$MQ_ROOT/tests/fuzz/corpus/$name" \
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

# A target that runs nothing, or whose library counts no edges, would find nothing either.
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

part_fuzz() {
    local source name dir built=yes
    local -a names=()
    if ! have_libfuzzer; then
        skip fuzz "clang cannot link libFuzzer (Debian packages clang and libclang-rt-<n>-dev)"
        return
    fi
    mkdir -p "$MQ_BUILD/fuzz"
    hold_lock fuzz
    make -C "$MQ_ROOT/tests/fuzz" -k -j"${MQ_JOBS:-2}" >"$MQ_BUILD/fuzz.log" 2>&1 || built=no
    drop_lock
    dir=$(mktemp -d "$MQ_BUILD/fuzz/run.XXXXXX")
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
        names+=("${name#fuzz_}")
    done
    export MQ_ROOT MQ_BUILD
    export -f run_fuzz fuzz_seconds
    # The long ones first: a short one at the end leaves a core idle for less.
    [ ${#names[@]} = 0 ] || for name in "${names[@]}"; do
        echo "$(fuzz_seconds "$name") $name"
    done | sort -s -n -r -k 1,1 | cut -d ' ' -f 2 |
        xargs -I{} -P "${MQ_JOBS:-2}" bash -c 'run_fuzz "$1" "$2/$1"' - {} "$dir"
    for name in ${names[@]+"${names[@]}"}; do
        record_fuzz "$name" "$dir/$name"
    done
    rm -rf "$dir"
}
