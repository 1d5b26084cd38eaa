# tools/test mime: what is composed and signed, read by independent programs.

# The program that a directory below tests/ builds, into the directory of the same name in .build.
build_mime() {
    hold_lock "$1"
    make -s -C "$MQ_ROOT/tests/$1" >"$MQ_BUILD/$1.log" 2>&1
    local status=$?
    drop_lock
    [ $status = 0 ] || tail -n 20 "$MQ_BUILD/$1.log"
    return $status
}

roundtrip() { build_mime mime && /usr/bin/python3 "$MQ_ROOT/tests/mime/roundtrip.py"; }
verify_dkim() {
    build_mime dkim && /usr/bin/python3 "$MQ_ROOT/tests/dkim/verify.py" "$MQ_BUILD/dkim/sign"
}

part_mime() {
    check mime/roundtrip roundtrip
    check mime/dkim verify_dkim
}
