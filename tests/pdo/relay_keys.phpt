--TEST--
A config key that has a text for each relay: a writer waits for another one, and keeps what it wrote
--EXTENSIONS--
mailqueue
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $watch = $backend->pdo();
    $waits = fn(): bool => (bool) (usleep(150_000) ?? $watch->query($backend->name === 'pgsql'
        ? "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        : 'SELECT count(*) FROM information_schema.innodb_lock_waits')->fetchColumn());
    $relays = function () use ($queue): string {
        $relays = array_keys(json_decode($queue->config('mailRelayPause'), true));
        sort($relays);
        return implode(' ', $relays);
    };
    foreach (['the key is new' => 'INSERT INTO config(value, {key}) VALUES (?, ?)', 'it exists' => 'UPDATE config SET value = ? WHERE {key} = ?'] as $when => $sql) {
        $queue->enqueue(mail_fields());
        $kept = json_decode($queue->config('mailRelayPause') ?? '{}', true);
        $pdo->beginTransaction();
        $pdo->prepare(str_replace('{key}', $backend->name === 'pgsql' ? 'key' : '`key`', $sql))
            ->execute([json_encode([...$kept, "of another, when $when" => time() + 900 . ' 1 no']), 'mailRelayPause']);
        $run = $backend->other('$open()->runWorker("smtp://127.0.0.1:$arguments[0]", log: "");', (string) (count($kept) + 1));
        must(wait_until($waits), 'the run waits');
        $pdo->commit();
        echo $run->end()[0], "$when: ", $relays(), "\n";
    }
});
?>
--EXPECT--
the key is new: of another, when the key is new smtp://127.0.0.1:1
it exists: of another, when it exists of another, when the key is new smtp://127.0.0.1:1 smtp://127.0.0.1:3
