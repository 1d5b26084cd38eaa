--TEST--
Commands, options, exit codes and transports in docs/ match the code; README.md stays short
--EXTENSIONS--
mailqueue
--FILE--
<?php
$root = dirname(__DIR__, 2);
spl_autoload_register(static fn(string $class) => require "$root/cli/"
    . strtr(substr($class, strlen('MailQueue\\Cli\\')), '\\', '/') . '.php');

/** @return list<string> the first cells of a page's rows */
$cells = static function (string $page, string $cell) use ($root): array {
    preg_match_all("/^\\| $cell/mu", file_get_contents("$root/docs/$page"), $found);
    return $found[1];
};
$compare = static function (string $what, array $page, array $code): void {
    sort($page);
    sort($code);
    echo "$what: ", $page === $code ? 'the same' : 'page ' . implode(' ', $page) . "\ncode " . implode(' ', $code), "\n";
};

$usage = array_map(static fn(string $name, array $about): string => trim("$name $about[args]"),
    array_keys(MailQueue\Cli\Commands::ALL), MailQueue\Cli\Commands::ALL);
$usage = str_replace('sendmail [RECIPIENT…]', 'sendmail', $usage);
$compare('commands', $cells('command-line.md', '`([a-z][A-Za-z-]+(?: [^`]*)?)` \|'), array_merge($usage,
    ['queue', 'compose', 'transport', 'relays', 'sign', 'dkim', 'onEvent', 'onFinished']));
$compare('exit codes', array_map(intval(...), $cells('command-line.md', '(\d+) \|')),
    array_values((new ReflectionClass(MailQueue\Cli\ExitCode::class))->getConstants()));

$options = [];
foreach ($cells('transports.md', '((?:`\w+`(?:, )?)+) \|') as $cell) {
    preg_match_all('/`(\w+)`/', $cell, $names);
    $options = [...$options, ...$names[1]];
}
foreach ($options as $option) {
    try {
        MailQueue::checkTransport("smtp://relay.example?$option=");
    } catch (ValueError $e) {
        str_contains($e->getMessage(), 'unknown option') && print("no option $option\n");
    }
}
try {
    MailQueue::checkTransport('smtp://relay.example?none=1');
} catch (ValueError $e) {
    preg_match('~smtp:// has (.*)~', $e->getMessage(), $known);
    $compare('options of SMTP', $options, explode(', ', $known[1]));
}
foreach ($cells('transports.md', '`(\w+:[^`]*)` \|') as $transport) {
    echo MailQueue::checkTransport($transport), "\n";
}
preg_match_all('/^CREATE TABLE (\w+)/m', file_get_contents("$root/docs/schema.sql"), $tables);
foreach (array_unique($tables[1]) as $table) {
    str_contains(file_get_contents("$root/docs/databases.md"), "`$table`") || print("databases.md does not name $table\n");
}
echo count(file("$root/README.md")) <= 200 ? 'README.md is short' : 'README.md has more than 200 lines', "\n";
?>
--EXPECT--
commands: the same
exit codes: the same
options of SMTP: the same
smtp://user:***@host:587
smtps://user:***@host
smtp:///run/relay
lmtp:///run/dovecot/lmtp
lmtp://127.0.0.1:24
sendmail://default
file:///dir
null://null
README.md is short
