--TEST--
A server that is stopped under an open page: a sentence with cause and cure, never a stack trace; after its start the page works again, over persistent connections, too
--EXTENSIONS--
mailqueue
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
require __DIR__ . '/page.inc';
require __DIR__ . '/../lib/pgsql.inc';
require __DIR__ . '/../lib/mariadb.inc';

use MailQueueTest\{MariaDB, PostgreSQL};

foreach ([new PostgreSQL(), MariaDB::durable()] as $server) {
    foreach (['0', '1'] as $persistent) {
        $dsn = $server->schema();
        echo '-- ', strtok($dsn, ':'), $persistent ? ', persistent' : '', "\n";
        $queue = new MailQueue($dsn);
        $id = $queue->enqueue(mail_fields());
        unset($queue);
        $shell = "php=\$1; shift; exec \"\$php\" -d mailqueue.database_persistent=$persistent \"\$@\"";
        $browser = new Browser($host = serve_page($dsn, [], str_replace('new MailQueue(', 'fn () => new MailQueue(', page_script($dsn, "'admin'")), $shell));
        $kept = $browser->get('/?view=mails')->status;
        $token = $browser->token();
        echo "before: $kept ", $browser->text(), ' ', substr_count($browser->body, '<td class="mark"'), "\n";
        $server->stop();
        $said = [];
        foreach (['overview', 'overview&part=now', 'mails', "mail&id=$id", 'uncertain', 'campaigns', 'relays', 'suppressions', 'settings', 'status.json', 'metrics'] as $view) {
            $browser->get("/?view=$view");
            must(!preg_match('/Stack trace|on line|#0 |PDOException|\.php/', $browser->body), $browser->body);
            $text = $browser->text('.lead') !== '-' ? $browser->text('.lead') : json_decode($browser->body, true)['error'] ?? $browser->body;
            $said["$browser->status " . preg_replace('~/[^ ;"]*mailqueue-\w+\.\w+~', '%', $text)][] = $view;
        }
        $browser->get('/?view=mails', 'POST', http_build_query(['action' => 'delete', 'ids' => [(string) $id], 'sure' => '1', 'token' => $token]));
        must(!preg_match('/Stack trace|on line|#0 |PDOException|\.php/', $browser->body), $browser->body);
        echo "delete: $browser->status\n";
        foreach ($said as $text => $views) {
            echo implode(', ', $views), ": $text\n";
        }
        $log = page_log($host);
        must(!preg_match('/Stack trace|#0 /', $log), $log);
        $server->start();
        $browser->get('/?view=mails');
        echo 'after: ', $browser->said(), ' ', substr_count($browser->body, '<td class="mark"'), "\n";
        $browser->get('/?view=mails')->post(['action' => 'delete', 'ids' => [(string) $id], 'sure' => '1'], '/?view=mails');
        echo $browser->text('.done'), "\n";
    }
}
?>
--EXPECT--
-- pgsql
before: 200 Mails 1
delete: 503
overview, overview&part=now, mails, mail&id=1, uncertain, campaigns, relays, suppressions, settings, status.json, metrics: 503 pgsql:host=%;dbname=postgres cannot be opened: SQLSTATE[08006] [7] connection to server on socket "%/.s.PGSQL.5432" failed: No such file or directory: is the server up, and are host and port right?
after: 200 Mails 1
1 mail deleted.
-- pgsql, persistent
before: 200 Mails 1
delete: 503
overview, overview&part=now, mails, mail&id=1, uncertain, campaigns, relays, suppressions, settings, status.json, metrics: 503 pgsql:host=%;dbname=postgres cannot be opened: SQLSTATE[08006] [7] connection to server on socket "%/.s.PGSQL.5432" failed: No such file or directory: is the server up, and are host and port right?
after: 200 Mails 1
1 mail deleted.
-- mysql
before: 200 Mails 1
delete: 503
overview, overview&part=now, mails, mail&id=1, uncertain, campaigns, relays, suppressions, settings, status.json, metrics: 503 mysql:unix_socket=%/socket;charset=utf8mb4;dbname=test1 cannot be opened: SQLSTATE[HY000] [2002] No such file or directory: is the server up, and are host and port right?
after: 200 Mails 1
1 mail deleted.
-- mysql, persistent
before: 200 Mails 1
delete: 503
overview, overview&part=now, mails, mail&id=1, uncertain, campaigns, relays, suppressions, settings, status.json, metrics: 503 mysql:unix_socket=%/socket;charset=utf8mb4;dbname=test2 cannot be opened: SQLSTATE[HY000] [2002] No such file or directory: is the server up, and are host and port right?
after: 200 Mails 1
1 mail deleted.
