--TEST--
OAuth2: a new token that cannot be stored is used; the log says so, and it is stored as soon as that works
--EXTENSIONS--
mailqueue
pcntl
posix
pdo_sqlite
--INI--
open_basedir=
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';

$accounts = temporary_directory('accounts');
putenv("MAILQUEUE_ACCOUNTS=$accounts");
$tokens = new Api(['delay' => 1, 'answer' => ['status' => 200, 'body' => json_encode(['access_token' => 'token-two',
    'token_type' => 'Bearer', 'expires_in' => 3600, 'refresh_token' => 'refresh-02'])]]);
$write = static function () use ($accounts, $tokens): void {
    file_put_contents("$accounts/shop.json", json_encode(['provider' => 'generic', 'grant' => 'refresh_token',
        'token_endpoint' => "http://127.0.0.1:$tokens->port/token", 'client_id' => 'client', 'scope' => 'mail',
        'refresh_token' => 'refresh-01', 'access_token' => 'token-one', 'expires_at' => time() - 1, 'refresh_at' => time() - 1]));
    chmod("$accounts/shop.json", 0600);
};
$shown = static fn(string $text): string => str_replace($accounts, '%', $text);

/** While the token is asked for, a directory takes the place of the account's file; after some seconds $after() is called. */
$meets = static function (string $what, callable $meanwhile) use ($accounts, $tokens, $write, $shown): void {
    $write();
    $api = new Api(['answer' => ['status' => 200, 'body' => '{"id":"18c"}'], 'authorization' => 'Bearer token-two', 'delay' => 6]);
    $asked = count($tokens->requests());
    $child = pcntl_fork();
    if ($child === 0) {
        while (count($tokens->requests()) === $asked) {
            usleep(5000);
        }
        rename("$accounts/shop.json", "$accounts/aside");
        mkdir("$accounts/shop.json");
        while ($api->requests() === []) {
            usleep(5000);
        }
        usleep(1500000);
        $meanwhile("$accounts/aside");
        rmdir("$accounts/shop.json");
        rename("$accounts/aside", "$accounts/shop.json");
        posix_kill(getmypid(), SIGKILL); // no cleanup of the test's own
    }
    $queue = new TestQueue();
    $queue->add('mail', ['somebody@example.org']);
    $report = $queue->work("gmail+https://127.0.0.1:$api->port?account=shop&tls=none");
    pcntl_waitpid($child, $status);
    echo "-- $what\n$report->end, $report->sent sent\n";
    foreach ($queue->events as $event) {
        echo $event['event'] === 'relay_sessions' ? '  ' . $shown(strtok($event['reply'], ';')) . "\n" : '';
    }
    $account = json_decode(file_get_contents("$accounts/shop.json"), true);
    echo "  $account[access_token], $account[refresh_token], mode ", decoct(fileperms("$accounts/shop.json") & 0777), ', ',
        implode(' ', array_map(basename(...), glob("$accounts/*"))), "\n";
};

$meets('it can be stored again', static fn() => null);
$meets('somebody has logged in meanwhile', static function (string $file): void {
    $new = ['access_token' => 'token-three', 'refresh_token' => 'refresh-03', 'expires_at' => time() + 3600, 'refresh_at' => time() + 3000]
        + json_decode(file_get_contents($file), true);
    file_put_contents($file, json_encode($new));
});
?>
--EXPECT--
-- it can be stored again
empty, 1 sent
  account shop: a new token is used, but not stored yet: cannot write %/shop.json: Is a directory
  account shop: the new token is stored
  token-two, refresh-02, mode 600, shop.json shop.lock
-- somebody has logged in meanwhile
empty, 1 sent
  account shop: a new token is used, but not stored yet: cannot write %/shop.json: Is a directory
  account shop: another token was stored meanwhile
  token-three, refresh-03, mode 600, shop.json shop.lock
