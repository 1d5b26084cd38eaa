--TEST--
migrate-store, killed again and again while workers run on both sides: each mail is sent once
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
require __DIR__ . '/copy.inc';
const MAILS = 900;
mt_srand(4711);

/** Starts the command and ignores its output. */
function start(string ...$words)
{
    $streams = [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']];
    return proc_open(cli_command($words), $streams, $pipes, temp_home(),
        ['HOME' => temp_home(), 'PATH' => getenv('PATH'), 'XDG_STATE_HOME' => getenv('XDG_STATE_HOME') ?: temp_home()]
        + sanitizer_environment());
}

foreach ([['native', 'pgsql'], ['pgsql', 'mysql'], ['mysql', 'native']] as [$one, $other]) {
    $from = new Backend($one);
    $to = new Backend($other);
    $box = temp_directory();
    $queue = $from->queue();
    $queue->enqueueMany((function () {
        for ($i = 0; $i < MAILS; $i++) {
            yield ['message' => "From: a@example.org\r\nTo: b@example.org\r\nSubject: n$i\r\n\r\nx\r\n"];
        }
    })());
    $other === 'native' || $to->queue(); // a worker may finish before the move starts
    /* A relay that is slow until the move is over, so that the move starts while mail is being
     * sent. */
    $program = "$box/relay";
    file_put_contents($program, "#!/bin/sh\n[ -e $box/fast ] || sleep 0.06\nexec sed -n 's/^Subject: //p' >>$box/sent\n");
    chmod($program, 0755);
    $work = fn(Backend $backend) => start('work', '--database', $backend->dsn, '--connections', '4',
        '--transport', "sendmail://default?command=$program", '--time-limit', '300', '--log', '');
    $sent = fn(): int => is_file("$box/sent") ? count(file("$box/sent")) : 0;
    $workers = [$work($from)];
    must(wait_until(fn() => $sent() > 20), 'the source sends');
    for ($kills = 0; $kills < 6; $kills++) {
        $move = start('migrate-store', $from->dsn, $to->dsn);
        usleep(mt_rand(50_000, 600_000));
        proc_terminate($move, SIGKILL);
        proc_close($move);
        $workers[] = $work($from);
        $kills < 2 && $other === 'native' || $workers[] = $work($to);
        $queue->enqueue("From: a@example.org\r\nSubject: m$kills\r\n\r\nx\r\n", recipients: ['b@example.org']);
    }
    [$code, , $errors] = cli(['migrate-store', $from->dsn, $to->dsn], ['XDG_STATE_HOME' => getenv('XDG_STATE_HOME') ?: temp_home()]);
    echo "$one to $other: exit $code $errors\n";
    $before = $sent();
    touch("$box/fast");
    $workers[] = $work($to);
    $there = $to->queue();
    must(wait_until(fn() => $there->stats()->pending === 0 && $there->stats()->sending === 0, 300), 'all is sent');
    $waited = $queue->stats()->pending;
    array_map(proc_terminate(...), $workers);
    array_map(proc_close(...), $workers);
    $counts = array_count_values(file("$box/sent", FILE_IGNORE_NEW_LINES));
    echo $before < MAILS + $kills ? 'the target sent the rest' : 'the source sent all', ', ',
        count($counts) === MAILS + $kills ? 'none lost' : 'lost ' . (MAILS + $kills - count($counts)),
        max($counts) === 1 ? ', none twice' : ', twice: ' . json_encode(array_filter($counts, fn($n) => $n > 1)),
        $waited > 0 ? ', the source kept its rows' : '', "\n";
}
?>
--EXPECT--
native to pgsql: exit 0 
the target sent the rest, none lost, none twice, the source kept its rows
pgsql to mysql: exit 0 
the target sent the rest, none lost, none twice, the source kept its rows
mysql to native: exit 0 
the target sent the rest, none lost, none twice, the source kept its rows
