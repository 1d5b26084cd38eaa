<?php

// Runs the named parts of the benchmark, or all, and prints what they measured. tools/bench calls
// it: php bench/run.php [--json] [--quick] [PART…]

declare(strict_types=1);

namespace Bench;

$files = 'lib enqueue latency claim worker compose sendmail server database dispatch '
    . 'after_response history suppress page daemon sessions http campaign campaign_send';
foreach (explode(' ', $files) as $file) {
    require __DIR__ . "/$file.php";
}

$parts = [
    'enqueue' => bench_enqueue(...),
    'latency' => bench_latency(...),
    'claim' => bench_claim(...),
    'worker' => bench_worker(...),
    'compose' => bench_compose(...),
    'sendmail' => bench_sendmail(...),
    'database' => bench_database(...),
    'dispatch' => bench_dispatch(...),
    'after-response' => bench_after_response(...),
    'history' => bench_history(...),
    'suppress' => bench_suppress(...),
    'page' => bench_page(...),
    'daemon' => bench_daemon(...),
    'sessions' => bench_sessions(...),
    'http' => bench_http(...),
    'campaign' => bench_campaign(...),
    'campaign-add' => bench_campaign_add(...),
    'campaign-send' => bench_campaign_send(...),
    'campaign-rsa' => bench_campaign_rsa(...),
    'campaign-reset' => bench_campaign_reset(...),
];
$options = array_slice($argv, 1);
$named = array_values(array_filter($options, static fn(string $o): bool => $o[0] !== '-'));
$onlyNamed = '/^(dispatch|page|sessions|campaign.*)$/'; // database runs dispatch
$wanted = $named ?: preg_grep($onlyNamed, array_keys($parts), PREG_GREP_INVERT);
$results = new Results();
directory(); // made by the parent, which removes it: the children end by SIGKILL
fprintf(
    STDERR,
    "PHP %s, SQLite %s, %s, %s, load average %.1f\n\n",
    PHP_VERSION,
    \SQLite3::version()['versionString'] ?? '',
    php_uname('m'),
    trim((string) @file_get_contents('/etc/debian_version')),
    sys_getloadavg()[0],
);
foreach ($wanted as $part) {
    if (!isset($parts[$part])) {
        fwrite(STDERR, "There is no part \"$part\": " . implode(', ', array_keys($parts)) . "\n");
        exit(64);
    }
    $parts[$part]($results, in_array('--quick', $options, true));
}
in_array('--json', $options, true) && print($results->json() . "\n");
