# tools/test mime: independent programs read composed and signed messages.

# build_mime NAME VARIABLE FILE: the program of tests/NAME, into .build/NAME. The VARIABLE of its
# Makefile is FILE and the objects of .build/unit: no source is compiled a second time.
build_mime() {
    local objects
    mkdir -p "$MQ_BUILD/unit"
    build_unit unit "$MQ_BUILD/unit/libmailqueue.a" || {
        tail -n 20 "$MQ_BUILD/unit.log"
        return 1
    }
    objects=$(core_objects "$MQ_BUILD/unit" | grep -E '/src/(core|policy|mime)/' | tr '\n' ' ')
    hold_lock "$1"
    make -s -C "$MQ_ROOT/tests/$1" "$2=$3 $objects" >"$MQ_BUILD/$1.log" 2>&1
    local status=$?
    drop_lock
    [ $status = 0 ] || tail -n 20 "$MQ_BUILD/$1.log"
    return $status
}

roundtrip() {
    build_mime mime OBJECTS "$MQ_BUILD/mime/roundtrip.o" &&
        /usr/bin/python3 "$MQ_ROOT/tests/mime/roundtrip.py"
}
verify_dkim() {
    build_mime dkim SOURCES sign.c &&
        /usr/bin/python3 "$MQ_ROOT/tests/dkim/verify.py" "$MQ_BUILD/dkim/sign"
}

part_mime() {
    check mime/roundtrip roundtrip
    check mime/dkim verify_dkim
}
