# tools/test lint: the PHP of cli, examples and integrations, read by PHPStan (level 8, with the
# stub) and laid out by PSR-12 (PHP-CS-Fixer). Both come from Packagist, by tools/setup lint.

PHP_DIRECTORIES="bin cli web examples integrations"

# The libraries that bridges are written for, below .build/bridges: without one, PHPStan knows none
# of its classes.
library_of() {
    case $1 in
    core | symfony | laravel) echo laravel-12/vendor ;;
    phpmailer) echo phpmailer-7/vendor ;;
    wordpress) echo wordpress/usr/share/wordpress/wp-includes ;;
    cakephp) echo cakephp-5/vendor ;;
    esac
}

# write_phpstan_config FILE BRIDGE...: the bridges are those that are skipped.
write_phpstan_config() {
    local file=$1 bridge
    shift
    {
        printf 'parameters:\n    level: 8\n    paths:\n'
        printf "        - $MQ_ROOT/%s\n" cli web examples integrations
        printf '    tmpDir: %s\n' "$MQ_BUILD/lint/phpstan-cache"
        printf '    excludePaths:\n        analyse:\n'
        printf "            - $MQ_ROOT/%s\n" 'integrations/*/vendor (?)' \
            "${@/#/integrations/}"
        printf '    scanDirectories:\n'
        ! [ -d /usr/share/php/Symfony/Component/DependencyInjection ] ||
            echo '        - /usr/share/php/Symfony/Component/DependencyInjection'
        for bridge in laravel-12/vendor/laravel laravel-12/vendor/psr laravel-12/vendor/symfony \
            phpmailer-7/vendor/phpmailer cakephp-5/vendor/cakephp; do
            [ ! -d "$MQ_BUILD/bridges/$bridge" ] || echo "        - $MQ_BUILD/bridges/$bridge"
        done
        printf "    scanFiles:\n"
        printf "        - $MQ_ROOT/%s\n" bin/mailqueue stubs/mailqueue.stub.php \
            tests/types/libraries.php
        # Debian's WordPress contains links to packages that are not installed, so only files are
        # read.
        find "$MQ_BUILD/bridges/wordpress/usr/share/wordpress/wp-includes" \
            "$MQ_BUILD/bridges/wordpress/usr/share/wordpress/wp-admin/includes" \
            -maxdepth 1 -type f -name '*.php' 2>/dev/null | sed 's/^/        - /'
    } >"$file"
}

# For this PHP, and for a new one, which deprecates more.
lint_types() {
    local lint=$MQ_BUILD/lint config
    printf 'includes: [phpstan.neon]\nparameters:\n    phpVersion: 80500\n    tmpDir: %s\n' \
        "$lint/phpstan-cache-new" >"$lint/phpstan-new.neon"
    for config in phpstan phpstan-new; do
        php -d memory_limit=2G "$lint/phpstan/vendor/bin/phpstan" analyse --no-progress \
            --no-ansi --error-format=raw -c "$lint/$config.neon" || return
    done
}

lint_psr12() {
    local output
    # shellcheck disable=SC2086
    output=$(cd "$MQ_ROOT" && php "$MQ_BUILD/lint/php-cs-fixer/vendor/bin/php-cs-fixer" check \
        --no-interaction --no-ansi --show-progress=none --config tests/types/php-cs-fixer.php \
        --cache-file "$MQ_BUILD/lint/php-cs-fixer.cache" --diff 2>&1) && return
    head -n 60 <<<"$output"
    return 1
}

check_php_code() {
    local bridge
    local -a left_out=()
    for bridge in "$MQ_ROOT"/integrations/*/; do
        bridge=$(basename "$bridge")
        [ -d "$MQ_BUILD/bridges/$(library_of "$bridge")" ] && continue
        left_out+=("$bridge")
        skip "lint/types-$bridge" "its library is not in .build/bridges"
    done
    if [ -x "$MQ_BUILD/lint/phpstan/vendor/bin/phpstan" ]; then
        write_phpstan_config "$MQ_BUILD/lint/phpstan.neon" ${left_out[@]+"${left_out[@]}"}
        check lint/types lint_types
    else
        skip lint/types "PHPStan cannot be had: tools/setup lint"
    fi
    if [ -x "$MQ_BUILD/lint/php-cs-fixer/vendor/bin/php-cs-fixer" ]; then
        check lint/psr-12 lint_psr12
    else
        skip lint/psr-12 "PHP-CS-Fixer cannot be had: tools/setup lint"
    fi
}
