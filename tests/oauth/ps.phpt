--TEST--
No secret, token or code is ever an argument that other users can see in ps: login, work, work --processes, logout
--EXTENSIONS--
pcntl
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require __DIR__ . '/oauth.inc';
echo OAuthServer::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/oauth.inc';
require dirname(__DIR__) . '/lib/cli.inc';
require dirname(__DIR__) . '/lib/api.inc';

/** Reads the arguments of all processes, again and again, in a process of its own. */
final class Sampler
{
    private readonly string $directory;
    private readonly int $child;

    public function __construct()
    {
        $this->directory = temporary_directory('ps');
        $this->child = pcntl_fork();
        if ($this->child === 0) {
            $this->sample();
            posix_kill(getmypid(), SIGKILL); // no cleanup of the test's own
        }
        wait_for('the first samples', fn() => file_exists("$this->directory/begun"));
    }

    private function sample(): void
    {
        $seen = [];
        for ($rounds = 0; !file_exists("$this->directory/stop"); $rounds++) {
            foreach (glob('/proc/[0-9]*/cmdline') as $file) {
                $seen[(string) @file_get_contents($file)] = true;
            }
            $rounds === 0 && touch("$this->directory/begun");
            usleep(1000);
        }
        file_put_contents("$this->directory/seen", implode("\n", array_keys($seen)));
    }

    /** All that was seen. */
    public function end(): string
    {
        touch("$this->directory/stop");
        pcntl_waitpid($this->child, $status);
        return file_get_contents("$this->directory/seen");
    }
}

$sampler = new Sampler();
$server = new OAuthServer();
$secrets = ['the client secret' => 'conf s3cret:+&=', 'the key of SES' => SES['aws']['secret']];

/** Runs a command; $says gets each line of its standard error. */
$runs = static function (array $words, array $environment, string $input = '', ?callable $says = null) use ($server): void {
    $process = proc_open(cli_command($words), [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, temp_home(),
        $environment + ['MAILQUEUE_ACCOUNTS' => $server->accounts, 'PATH' => getenv('PATH'), 'HOME' => temp_home()] + sanitizer_environment());
    fwrite($pipes[0], $input);
    fclose($pipes[0]);
    while (($line = fgets($pipes[2])) !== false) {
        $says === null || $says($line);
    }
    stream_get_contents($pipes[1]);
    echo "$words[0]: ", proc_close($process), "\n";
};
/** The tokens that an account has now. */
$tokens = static function (string $account, string $when) use ($server, &$secrets): void {
    foreach (['access_token', 'refresh_token'] as $what) {
        $secrets["the $what of $account, $when"] = $server->read($account)[$what];
    }
};

$generic = ['login', 'generic', '--account', 'main', '--client-id', 'confidential', '--scope', 'openid offline_access mail', '--secret',
    '--token-endpoint', "$server->issuer/token", '--device-endpoint', "$server->issuer/device/auth",
    '--authorization-endpoint', "$server->issuer/auth", '--revocation-endpoint', "$server->issuer/token/revocation"];
$runs([...$generic, '--browser'], [], "conf s3cret:+&=\n", static function (string $line) use (&$secrets): void {
    if (preg_match('~^ +(http\S+)$~', $line, $match)) {
        $directory = temporary_directory('browser');
        run(['curl', '-s', '-L', '-D', "$directory/head", '-o', '/dev/null', '-c', "$directory/jar", '-b', "$directory/jar", $match[1]]);
        preg_match('~^location:.*[?&]code=([^&\s]+)~mi', file_get_contents("$directory/head"), $code);
        $secrets['the code of the browser'] = $code[1];
    }
});
$tokens('main', 'login');
$runs([...$generic, '--account', 'second'], [], "conf s3cret:+&=\n", static function (string $line) use ($server, &$secrets): void {
    if (preg_match('/the code (\S+)\./', $line, $match)) {
        $secrets['the code to enter'] = $match[1];
        $server->do('approve', ['code' => $match[1], 'user' => 'alice@example.org']);
    }
});
$tokens('second', 'login');

foreach (['ses' => [], 'gmail' => [], 'processes' => ['--processes', '2']] as $which => $words) {
    $api = new Api((['ses' => SES][$which] ?? ['answer' => ['status' => 200, 'body' => '{"id":"18c"}']]) + ['delay' => 0.1]);
    if ($which !== 'ses') { // the token has ended
        $server->write('main', ['expires_at' => time() - 1, 'refresh_at' => time() - 1] + $server->read('main'));
    }
    $queue = new TestQueue();
    array_map(static fn(int $i): int => $queue->add("$which$i", ['somebody@example.org']), range(1, 8));
    $runs(['work', '--connections', '2', ...$words], ['MAILQUEUE_DATABASE' => $queue->path, 'MAILQUEUE_TRANSPORT' => $which === 'ses'
        ? ses($api) : "gmail+https://127.0.0.1:$api->port?account=main&tls=none"]);
    echo '  ', count(array_keys($queue->states(), 'gone')), " sent\n";
    $tokens('main', $which);
}
$runs(['logout', 'main', '--yes'], []);
$runs(['logout', 'second', '--yes'], []);

// The sampler sees what is there to see.
$control = new Process(['sh', '-c', 'sleep 60; :', 'c0ntrol-secret'], temporary_directory('control'));
sleep(3);
$control->stop();
$seen = $sampler->end();
foreach (['login', 'work', '--processes', 'logout', 'c0ntrol-secret'] as $word) {
    must(str_contains($seen, "\0$word\0"), "$word was seen");
}
must(count(array_unique($secrets)) >= 8, 'there are several tokens');
foreach ($secrets as $what => $secret) {
    foreach ([$secret, rawurlencode($secret), urlencode($secret), base64_encode($secret)] as $form) {
        str_contains($seen, $form) && print("$what was seen\n");
    }
}
echo count($secrets), " secrets, none was seen\n";
?>
--EXPECT--
login: 0
login: 0
work: 0
  8 sent
work: 0
  8 sent
work: 0
  8 sent
logout: 0
logout: 0
14 secrets, none was seen
