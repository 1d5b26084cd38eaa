--TEST--
mailqueue suppress: add, remove, list; import and export of CSV, with lines that cannot be taken; forget keeps only a hash
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require __DIR__ . '/../lib/cli.inc';
on_backends(['native', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $directory = temp_directory();
    $environment = ['MAILQUEUE_DATABASE' => $backend->dsn, 'MAIL_QUEUE_LOG' => '/dev/null', 'XDG_STATE_HOME' => (string) getenv('XDG_STATE_HOME')];
    $run = function (string ...$words) use ($environment, $directory): void {
        [$code, $out, $errors] = cli(['suppress', ...$words], $environment);
        echo implode(' ', array_map(fn(string $word): string => basename($word), $words)), ": exit $code\n",
            preg_replace(['/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', '/ +$/m', '/"createdAt": \d+/'], ['TIME', '', '"createdAt": N'], str_replace("$directory/", '', $out . $errors));
    };
    $run('add', 'Ann@example.net', 'bea@example.net');
    $run('add', '--reason', 'unsubscribe', '--scope', 'list:news', '--source', 'phone', 'ann@example.net');
    $run('add', '--dry-run', 'ann@example.net', 'cy@example.net');
    $run('add', '--dry-run', 'cy@example.net', 'CY@example.net');
    $run('add', 'cy@example.net', 'no address');
    $run('add', '--reason', 'bounce', 'cy@example.net');
    $run('list');
    $run('list', '--scope', 'list:news');
    $run('list', 'bea@example.net', '--json');
    $run('list', 'nobody@example.net');
    $run('list', 'ann@example.net', 'nobody@example.net');
    $run('list', '--reason', 'manual', 'ann@example.net', 'bea@example.net');
    $run('list', '--scope', 'list:news', 'bea@example.net');
    $run('list', '--reason', 'bounce', 'bea@example.net');
    $run('remove', 'ann@example.net', 'no address');
    $run('remove', '--dry-run', 'ann@example.net', 'ANN@example.net');
    $run('remove', '--scope', 'list:news', 'ann@example.net');
    $run('remove', 'ann@example.net', 'nobody@example.net');
    $run();
    $run('ad', 'x');
    $run('remove');

    echo "-- files\n";
    file_put_contents("$directory/plain.csv", "\xEF\xBB\xBFcy@example.net\r\n\r\n\"di@example.net\"\r\nCY@example.net\r\nnot an address\r\n");
    $run('import', '--dry-run', "$directory/plain.csv");
    $run('import', '--reason', 'complaint', "$directory/plain.csv");
    file_put_contents("$directory/full.csv", "reason,address,note,created_at,source,scope\r\n"
        . "hard_bounce,ed@bücher.example,x,2026-01-02T03:04:05Z,\"said \"\"550, no such user\"\"\",\r\n"
        . "unsubscribe,fay@example.net,x,1760000000,,list:news\nbounce,gus@example.net\nmanual,hal@example.net,x,someday\n,ida@example.net\n");
    $run('import', "$directory/full.csv");
    $run('export', "$directory/out.csv");
    echo preg_replace('/20(?!26-01-02|25-10-09)\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/', 'NOW', file_get_contents("$directory/out.csv"));
    $run('import', "$directory/out.csv");
    $run('export', '--reason', 'hard_bounce');
    $run('import', "$directory/missing.csv");
    $other = $backend->another();
    $queue = $other->queue();
    $environment['MAILQUEUE_DATABASE'] = $other->dsn;
    cli(['suppress', 'import', "$directory/out.csv"], $environment);
    cli(['suppress', 'export', "$directory/again.csv"], $environment);
    echo file_get_contents("$directory/again.csv") === file_get_contents("$directory/out.csv") ? "the same\n" : file_get_contents("$directory/again.csv");
    file_put_contents("$directory/many.csv", implode("\r\n", array_map(fn(int $i): string => "n$i@example.net", range(1, 2500))) . "\nbad\n");
    $run2 = cli(['suppress', 'import', "$directory/many.csv"], $environment);
    echo "exit $run2[0] $run2[1]$run2[2]";
    file_put_contents("$directory/some.csv", implode("\n", array_map(fn(int $i): string => $i % 7 === 0 ? "bad $i" : "m$i@example.net", range(1, 50))));
    $run('import', "$directory/some.csv");
    file_put_contents("$directory/excel.csv", "address;reason;note\r\nm1@example.net;manual;\"two\r\nlines\"\r\nm7@example.net;complaint;x\r\nx@example.net;no reason;x\r\n");
    $run('import', '--dry-run', "$directory/excel.csv");
    $first = $backend->queue();
    $first->suppress('=1+1@example.net', 'complaint', 'list:-x', "=HYPERLINK(\"https://example.com\")");
    $run('export', '--scope', 'list:-x', "$directory/formula.csv");
    echo preg_replace('/20\d\d-\S+Z/', 'NOW', file_get_contents("$directory/formula.csv"));
    $before = $first->suppression('=1+1@example.net');
    $first->unsuppress('=1+1@example.net');
    $run('import', "$directory/formula.csv");
    must(array_diff_key($before[0], ['id' => 0]) === array_diff_key($first->suppression('=1+1@example.net')[0], ['id' => 0]), 'it comes back as it was');
    echo "-- forget\n";
    $queue->enqueue(mail_fields(to: 'n7@example.net'));
    [$code, $out] = cli(['forget', '--yes', 'N7@example.net'], $environment);
    echo "exit $code: ", strtok($out, '.'), '. ', strtok('.'), ".\n";
    echo json_encode(array_map(fn(array $one): array => [$one['address'], $one['source']], $queue->suppression('n7@example.net'))), "\n";
    $queue->enqueue(mail_fields(to: 'n7@example.net'));
    $report = $queue->runWorker('null://null', log: '');
    echo "sent $report->sent suppressed $report->suppressed\n";
    [$code, $out, $errors] = cli(['suppress', 'export', '/dev/null'], $environment);
    echo "exit $code: $errors";
    echo cli(['config', 'mailSuppressionKey'], $environment)[1];
});
?>
--EXPECT--
add Ann@example.net bea@example.net: exit 0
2 added.
add --reason unsubscribe --scope list:news --source phone ann@example.net: exit 0
1 added.
add --dry-run ann@example.net cy@example.net: exit 0
Would be: 1 added; 1 were there already.
add --dry-run cy@example.net CY@example.net: exit 0
Would be: 1 added; 1 were there already.
add cy@example.net no address: exit 64
mailqueue: Address: the address "no address" has no "@"; write it as name@example.org.
add --reason bounce cy@example.net: exit 64
mailqueue: Reason cannot be "bounce"; it is one of unsubscribe hard_bounce complaint manual.
list: exit 0
id  address          reason       scope      since                 source
1   ann@example.net  manual       all mail   TIME  -
2   bea@example.net  manual       all mail   TIME  -
3   ann@example.net  unsubscribe  list:news  TIME  phone
list --scope list:news: exit 0
id  address          reason       scope      since                 source
3   ann@example.net  unsubscribe  list:news  TIME  phone
list bea@example.net --json: exit 0
[
    {
        "id": 2,
        "address": "bea@example.net",
        "scope": null,
        "reason": "manual",
        "source": null,
        "createdAt": N
    }
]
list nobody@example.net: exit 1
None.
list ann@example.net nobody@example.net: exit 1
id  address          reason       scope      since                 source
1   ann@example.net  manual       all mail   TIME  -
3   ann@example.net  unsubscribe  list:news  TIME  phone
list --reason manual ann@example.net bea@example.net: exit 0
id  address          reason  scope     since                 source
1   ann@example.net  manual  all mail  TIME  -
2   bea@example.net  manual  all mail  TIME  -
list --scope list:news bea@example.net: exit 1
None.
list --reason bounce bea@example.net: exit 64
mailqueue: Reason cannot be "bounce"; it is one of unsubscribe hard_bounce complaint manual.
remove ann@example.net no address: exit 64
mailqueue: Address: the address "no address" has no "@"; write it as name@example.org.
remove --dry-run ann@example.net ANN@example.net: exit 0
Would be: 2 removed.
remove --scope list:news ann@example.net: exit 0
1 removed.
remove ann@example.net nobody@example.net: exit 1
1 removed.
: exit 64
mailqueue: suppress takes add, remove, list, import, export.
ad x: exit 64
mailqueue: suppress takes add, remove, list, import, export, not "ad". Did you mean add?
remove: exit 64
mailqueue: suppress remove takes an address, such as name@example.org.
-- files
import --dry-run plain.csv: exit 1
Would be: 2 added; 1 were there already.
Line 5: address: the address "not an address" has no "@"; write it as name@example.org.
import --reason complaint plain.csv: exit 1
2 added; 1 were there already.
Line 5: address: the address "not an address" has no "@"; write it as name@example.org.
import full.csv: exit 1
3 added.
Line 4: reason cannot be "bounce"; it is one of unsubscribe hard_bounce complaint manual.
Line 5: created_at is not a time, such as 2026-11-26T08:00:00Z.
export out.csv: exit 0
address,scope,reason,source,created_at
bea@example.net,,manual,,NOW
cy@example.net,,complaint,,NOW
di@example.net,,complaint,,NOW
ed@xn--bcher-kva.example,,hard_bounce,"said ""550, no such user""",2026-01-02T03:04:05Z
fay@example.net,list:news,unsubscribe,,2025-10-09T08:53:20Z
ida@example.net,,manual,,NOW
import out.csv: exit 0
0 added; 6 were there already.
export --reason hard_bounce: exit 0
address,scope,reason,source,created_at
ed@xn--bcher-kva.example,,hard_bounce,"said ""550, no such user""",2026-01-02T03:04:05Z
import missing.csv: exit 66
mailqueue: missing.csv cannot be read: fopen(missing.csv): Failed to open stream: No such file or directory
the same
exit 1 2500 added.
Line 2501: address: the address "bad" has no "@"; write it as name@example.org.
import some.csv: exit 1
43 added.
Line 7: address: the address "bad 7" has no "@"; write it as name@example.org.
Line 14: address: the address "bad 14" has no "@"; write it as name@example.org.
Line 21: address: the address "bad 21" has no "@"; write it as name@example.org.
Line 28: address: the address "bad 28" has no "@"; write it as name@example.org.
Line 35: address: the address "bad 35" has no "@"; write it as name@example.org.
Line 42: address: the address "bad 42" has no "@"; write it as name@example.org.
Line 49: address: the address "bad 49" has no "@"; write it as name@example.org.
import --dry-run excel.csv: exit 1
Would be: 1 added; 1 were there already.
Line 5: reason cannot be "no reason"; it is one of unsubscribe hard_bounce complaint manual.
export --scope list:-x formula.csv: exit 0
address,scope,reason,source,created_at
'=1+1@example.net,list:-x,complaint,"'=HYPERLINK(""https://example.com"")",NOW
import formula.csv: exit 0
1 added.
-- forget
exit 0: Erased 1 mail and 0 rows of the history. 
It stays suppressed, by a hash instead of the address.
[[null,null]]
sent 0 suppressed 1
exit 0: 1 without an address (forgotten) are left out: only this database knows them.
(set)
