# tools/test page: the page in headless Chromium, by tests/page/browser.mjs. What npm installs is in
# .build/page, the pictures in .build/page/screenshots.

part_page() {
    local chromium line library status
    chromium=$(command -v chromium || true)
    if [ -z "$chromium" ] || [ ! -d "$MQ_BUILD/page/node_modules/playwright-core" ]; then
        skip page/browser "Chromium or playwright-core is missing: tools/setup page"
        return
    fi
    library=$("$MQ_ROOT/tools/build" plain) || {
        fail page/build
        return
    }
    while read -r line; do
        case $line in
        'ok '*) say "ok      page/${line#ok }" && pass ;;
        'FAILED '*) line=${line#FAILED } && fail "page/${line%%: *}" "${line#*: }" ;;
        *) say "$line" ;;
        esac
    done < <(MQ_ROOT=$MQ_ROOT MQ_BUILD=$MQ_BUILD MAILQUEUE_SO=$library CHROMIUM=$chromium \
        nice node "$MQ_ROOT/tests/page/browser.mjs" 2>&1
        status=$?
        [ $status = 0 ] || [ $status = 2 ] || echo "FAILED run: exit $status")
}
