--TEST--
C1, DEL and bidirectional controls: refused in reference and type, escaped in --json and in the log; the header of a mail for sendmail has a limit
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
$path = database();
$queue = new MailQueue($path);
$codes = [0x7f, 0x80, 0x85, 0x9b, 0x9f, 0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069];
$characters = array_map(fn(int $code): string => json_decode(sprintf('"\u%04x"', $code)), $codes);
$named = 0;
foreach ($characters as $i => $character) {
    foreach (['reference', 'type'] as $field) {
        $text = thrown(fn() => $queue->enqueue(mail_fields(), ...[$field => "ab{$character}c"]));
        $named += $text === sprintf('ValueError: %s has the control character U+%04X at octet 3; remove it', $field, $codes[$i]) ?: print("$text\n");
    }
}
echo "$named refused, ", count($queue->jobs()), " stored\n";
/* Other scripts and marks are ordinary text: letters need joiners. */
var_dump($queue->enqueue(mail_fields(), "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645} \u{200d}\u{200c} \u{1f600}", "\u{e4}"));

echo "-- rows that somebody else wrote\n";
$all = implode('', $characters);
(new PDO("sqlite:$path"))->prepare('UPDATE mail_queue SET reference = ?, mail_type = ?, last_error = ?')->execute([$all, "t$all", "e$all"]);
$raw = '/[\x7f\x{80}-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]/u';
foreach ([['list', '--json'], ['show', '1', '--json'], ['list'], ['show', '1']] as $arguments) {
    [$code, $output] = cli([...$arguments, '--database', $path]);
    echo implode(' ', $arguments), ": exit $code, ", preg_match($raw, $output), ' raw';
    if (in_array('--json', $arguments)) {
        $row = json_decode($output, true);
        $row = $row['jobs'][0] ?? $row[0] ?? $row;
        echo ', ', $row['reference'] === $all && $row['type'] === "t$all" ? 'all there' : 'not all there';
    }
    echo "\n";
}
$log = dirname($path) . '/log';
$queue->runWorker('null://null', log: $log);
foreach ([[], ['--id', '1']] as $arguments) {
    [$code, $output] = cli(['log', '--log', $log, '--database', $path, ...$arguments]);
    echo 'log ', implode(' ', $arguments), ": exit $code, ", preg_match($raw, $output), ' raw, ', substr_count($output, 'sent'), " sent\n";
}
$line = json_decode(explode("\n", file_get_contents($log))[0], true);
echo 'log: ', preg_match($raw, file_get_contents($log)), ' raw, ', $line['reference'] === $all ? "all there\n" : "not all there\n";

echo "-- names of files and databases\n";
$none = '/[\x00-\x09\x0b-\x1f]|[\x80-\xff]/'; // except for line ends, and the UTF-8 of a name
foreach (["e\e[2Jsc", "c1\u{9b}2J", "del\x7f", "bidi\u{202e}txt", "byte\x9b2J", "line\nok    all is well"] as $name) {
    $home = temp_directory();
    mkdir($hostile = "$home/$name 100%d'\\");
    $there = "$hostile/mail.sqlite";
    $other = new MailQueue($there);
    $other->hold([$other->enqueue(mail_fields())]);
    chmod($there, 0666);
    $printed = '';
    foreach ([['doctor'], ['status'], ['show', '9'], ['list', '--database', "$there.none"], ['work', '--bootstrap', "$hostile/none.php"], ['log', '--log', "$hostile/none"],
        ['migrate-store', $there, "$hostile/to.sqlite"], ['status'], ['doctor']] as $arguments) {
        in_array('migrate-store', $arguments) || in_array('--database', $arguments) || array_push($arguments, '--database', $there);
        [, $output, $errors] = cli($arguments, ['MAILQUEUE_TRANSPORT' => 'null://null', 'MAILQUEUE_ALIASES' => "$hostile/aliases", 'MAILQUEUE_DKIM' => "example.org:s:$hostile/key"]);
        $printed .= $output . $errors;
    }
    echo str_replace("\x7f", '?', json_encode($name, JSON_INVALID_UTF8_SUBSTITUTE)), ': ', preg_match($none, str_replace(['…', "\u{fffd}"], '', $printed)), ' raw, ', preg_match_all('/^(ok    all is well)/m', $printed), ' forged, ';
    // A printed command is still one command.
    $typed = 0;
    foreach (preg_match_all('/^ +(chmod .*)$/m', $printed, $match) ? array_unique($match[1]) : [] as $command) {
        $typed += typed($command)[0] === 0;
    }
    clearstatcache();
    printf("%d typed, mode %o\n", $typed, fileperms($there) & 0777);
}

echo "-- headers\n";
foreach (['just fits' => 2_000_000, 'too long' => 2_200_000] as $what => $size) {
    foreach (['one field' => 'X-Long: ' . implode("\n ", str_split(str_repeat('x', $size), 900)), 'many' => rtrim(str_repeat("X-A: b\n", intdiv($size, 7)))] as $kind => $header) {
        $process = proc_open(cli_command(['sendmail', '-t']), [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes, null, ['PATH' => getenv('PATH'), 'MAILQUEUE_DATABASE' => $path] + sanitizer_environment());
        @fwrite($pipes[0], "To: ann@example.net\n$header\n\nbody\n");
        fclose($pipes[0]);
        $output = stream_get_contents($pipes[1]);
        echo "$what, $kind: exit ", proc_close($process), ' ', $output, $output === '' ? "\n" : '';
    }
}
?>
--EXPECT--
38 refused, 0 stored
int(1)
-- rows that somebody else wrote
list --json: exit 0, 0 raw, all there
show 1 --json: exit 0, 0 raw, all there
list: exit 0, 0 raw
show 1: exit 0, 0 raw
log : exit 0, 0 raw, 2 sent
log --id 1: exit 0, 0 raw, 2 sent
log: 0 raw, all there
-- names of files and databases
"e\u001b[2Jsc": 0 raw, 0 forged, 2 typed, mode 660
"c1\u009b2J": 0 raw, 0 forged, 2 typed, mode 660
"del?": 0 raw, 0 forged, 2 typed, mode 660
"bidi\u202etxt": 0 raw, 0 forged, 2 typed, mode 660
"byte\ufffd2J": 0 raw, 0 forged, 2 typed, mode 660
"line\nok    all is well": 0 raw, 0 forged, 2 typed, mode 660
-- headers
just fits, one field: exit 0 
just fits, many: exit 0 
too long, one field: exit 65 mailqueue: message: its header has more than 2097152 bytes; an empty line ends it
too long, many: exit 65 mailqueue: message: its header has more than 2097152 bytes; an empty line ends it
