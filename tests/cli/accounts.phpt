--TEST--
Where OAuth2 accounts lie: --accounts, the environment, mailqueue.accounts, mailqueue.run_dir, the user's state; the first of these counts
--EXTENSIONS--
posix
--FILE--
<?php
require dirname(__DIR__) . '/lib/cli.inc';

$home = temp_directory();
$places = ['option' => "$home/option", 'environment' => "$home/environment", 'ini' => "$home/ini",
    'run_dir' => "$home/run/accounts", 'state' => "$home/state/mailqueue/accounts",
    'home' => "$home/home/.local/state/mailqueue/accounts"];
foreach ($places as $name => $directory) {
    mkdir($directory, 0700, true);
    file_put_contents("$directory/$name.json", json_encode(['provider' => 'generic', 'grant' => 'client_credentials',
        'token_endpoint' => 'https://id.example/token', 'client_id' => 'x', 'client_secret' => 's3cret', 'scope' => 'mail']));
    chmod("$directory/$name.json", 0600);
}

/** The accounts that are found, and what is wrong with them. */
function found(string $what, array $ini, array $environment, string ...$words): void
{
    global $home;
    $settings = [];
    foreach ($ini as $name => $value) {
        array_push($settings, '-d', "mailqueue.$name=$value");
    }
    $process = proc_open(php_command(...$settings, ...[dirname(__DIR__, 2) . '/bin/mailqueue', 'accounts', '--json', ...$words]),
        [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, $home,
        $environment + ['PATH' => getenv('PATH'), 'HOME' => "$home/home"] + sanitizer_environment());
    $output = stream_get_contents($pipes[1]);
    $errors = stream_get_contents($pipes[2]);
    $code = proc_close($process);
    $names = array_map(static fn(array $one): string => $one['name'] . ($one['fault'] === null ? '' : " ($one[fault])"),
        (array) json_decode($output, true));
    echo "$what: exit $code ", str_replace($home, '%', (implode(' ', $names) ?: trim($output)) . $errors), "\n";
}

$ini = ['accounts' => $places['ini'], 'run_dir' => "$home/run"];
$environment = ['MAILQUEUE_ACCOUNTS' => $places['environment']];
found('--accounts', $ini, $environment, '--accounts', $places['option']);
found('--accounts, relative', $ini, $environment, '--accounts', 'option');
found('MAILQUEUE_ACCOUNTS', $ini, $environment);
found('an empty variable', $ini, ['MAILQUEUE_ACCOUNTS' => '']);
found('mailqueue.accounts', $ini, []);
found('mailqueue.run_dir', ['run_dir' => "$home/run"], []);
found('XDG_STATE_HOME', [], ['XDG_STATE_HOME' => "$home/state"]);
found('HOME', [], []);
found('a directory that is missing', $ini, $environment, '--accounts', "$home/none");
show(cli(['accounts', '--accounts', "$home/none"]), $home);
?>
--EXPECT--
--accounts: exit 0 option
--accounts, relative: exit 0 option
MAILQUEUE_ACCOUNTS: exit 0 environment
an empty variable: exit 0 ini
mailqueue.accounts: exit 0 ini
mailqueue.run_dir: exit 0 run_dir
XDG_STATE_HOME: exit 0 state
HOME: exit 0 home
a directory that is missing: exit 0 []
exit 0
No accounts in %/none.
