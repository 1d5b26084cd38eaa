--TEST--
runAfterResponse(): the same on servers
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
require __DIR__ . '/../lib/fpm.inc';
echo backends_missing('pgsql', 'mysql') ?: MailQueueTest\Fpm::missing();
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require __DIR__ . '/../lib/fpm.inc';

use MailQueueTest\Fpm;

on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
    $dir = temp_directory();
    $fpm = new Fpm(['mailqueue.run_dir' => $dir, 'mailqueue.transport' => "file://$dir/mails"]);
    $queue = $backend->queue();
    $sends = $fpm->page('sends', "\$queue = new MailQueue(" . var_export($backend->dsn, true) . "); \$queue->enqueue(" . var_export(mail_fields(), true) . "); var_dump(\$queue->runAfterResponse());");
    $arrived = static fn(): int => count(glob("$dir/mails/new/*"));
    echo $fpm->get($sends);
    must(wait_until(static fn(): bool => $arrived() === 1), 'the mail arrives');
    echo $fpm->get($sends);
    echo $arrived(), ' arrived, ', $queue->stats()->pending, " pending\n";

    $user = $backend->name === 'pgsql' ? 'current_user' : "substring_index(user(), '@', 1)";
    $login = $fpm->page('login', '$queue = new MailQueue(' . var_export(str_replace(';user=test', '', $backend->dsn), true)
        . "); echo MailQueue\\Internal::select(\$queue, \"SELECT $user\")[0][0];");
    echo 'FastCGI names the user ', $fpm->get($login, ['MAILQUEUE_DATABASE_USER' => 'test']), "\n";
});
?>
--EXPECT--
bool(true)
bool(true)
1 arrived, 1 pending
FastCGI names the user test
