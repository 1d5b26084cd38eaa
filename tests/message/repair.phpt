--TEST--
Complete messages with long lines, raw UTF-8 and Latin-1 in headers: Python reads the stored message as it was meant
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php if (!is_executable('/usr/bin/python3')) die('skip python3 is missing');
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

// Seen to fail with: encoded words labelled utf-8 always, no quoted-printable for a part, the line
// end before a boundary taken for the part's, soft breaks at any place.

$python = static function (string $mode, string $input): string {
    $process = proc_open(['/usr/bin/python3', __DIR__ . '/repair.py', $mode], [['pipe', 'r'], ['pipe', 'w']], $pipes, null, []);
    if ($input !== '') {
        fwrite($pipes[0], $input);
    }
    fclose($pipes[0]);
    $output = stream_get_contents($pipes[1]);
    proc_close($process);
    return $output;
};

/* In memory if possible: there are many mails, and the test is not about power failures. */
if (is_writable('/dev/shm')) {
    putenv('TMPDIR=/dev/shm');
}
$queue = new MailQueue(database());
$stored = $again = [];
$changed = 0;
foreach (json_decode($python('make', ''), true) as $raw) {
    $message = $queue->job($queue->enqueue(base64_decode($raw)))->message;
    $stored[] = base64_encode($message);
    // A second repair changes nothing.
    $changed += $queue->job($queue->enqueue($message))->message !== $message;
}
echo $python('check', json_encode($stored)), "changed again: $changed\n";
?>
--EXPECTF--
300 messages, %d with long lines, %d parts
changed again: 0
