--TEST--
Rows edited by hand: a message that SMTP cannot carry is parked as unreadable, never sent, and does not stop other mail
--EXTENSIONS--
posix
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php
require dirname(__DIR__) . '/lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
require dirname(__DIR__) . '/lib/backends.inc';
require_once dirname(__DIR__) . '/lib/smtp.inc';

// The check is in src/worker/delivery.c; tests/unit/mime/test_message.c tests which bodies are
// valid. Seen to fail without it: they are sent as they are, and a body without a line end waits
// for a reply to its dot.

const BODIES = [
    'bare LF' => "Subject: x\r\n\r\na\nb\r\n",
    'bare CR' => "Subject: x\r\n\r\na\rb\r\n",
    'CR before CRLF' => "Subject: x\r\n\r\na\r\r\n",
    'smuggled' => "Subject: x\r\n\r\na\n.\nMAIL FROM:<x@example.net>\r\n",
    'LF first' => "\nSubject: x\r\n\r\na\r\n",
    'NUL' => "Subject: x\r\n\r\na\0b\r\n",
    'NUL far into the text' => "Subject: x\r\n\r\n%\0\r\n",
    'no end' => "Subject: x\r\n\r\na",
    'CR at the end' => "Subject: x\r\n\r\na\r",
    'half an end' => "Subject: x\r\n\r\na\n",
    'empty' => '',
    'one byte' => "\n",
];
const COLUMNS = [
    ['recipients', '["b@example.org"'],
    ['recipients', '{}'],
    ['recipients', "[\"b@example.org\\r\\nRCPT TO:<c@example.org>\"]"],
    ['envelope_from', "a@example.com>\r\nRSET"],
    ['fields', '{"dsn":'], // requests nothing, and is sent
    ['refused', 'x'], // from earlier attempts, and is sent
    ['status', 'new'], // nobody's recipient
];

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo([PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $add = fn(string $subject): int => $queue->enqueue("Subject: $subject\r\n\r\nx\r\n", envelopeFrom: 'me@example.com', recipients: ['you@example.org']);
    $add('first');
    foreach (BODIES as $body) {
        $edit = $pdo->prepare('UPDATE mail_body SET content = ? WHERE id = ?');
        $edit->bindValue(1, str_replace('%', str_repeat("line\r\n", 3000), $body), PDO::PARAM_LOB);
        $edit->bindValue(2, $add('edited'));
        $edit->execute();
    }
    foreach (COLUMNS as [$column, $text]) {
        $pdo->prepare("UPDATE mail_queue SET $column = ? WHERE id = ?")->execute([$text, $add($column)]);
    }
    $add('last');
    $server = new SmtpServer();
    $report = $queue->runWorker("smtp://127.0.0.1:$server->port?final_timeout=10", connections: 1, log: '', timeLimit: 150);
    $subjects = array_map(fn(array $mail) => explode("\r\n", $mail['data'])[0], $server->mails());
    $server->end();
    echo "$report->end, $report->sent sent: ", implode(', ', $subjects), "\n";
    $rows = $pdo->query('SELECT status, parked_for, attempts, last_error FROM mail_queue ORDER BY id');
    foreach ($rows->fetchAll(PDO::FETCH_NUM) as [$status, $why, $attempts, $error]) {
        echo "$status $why $attempts: $error\n";
    }
    // Corrected and retried by hand, it is sent.
    $pdo->exec("DELETE FROM mail_queue WHERE status = 'new'");
    $id = array_column($queue->jobs(), 'id')[0];
    $pdo->exec("UPDATE mail_body SET content = 'Subject: corrected\r\n\r\nx\r\n' WHERE id = $id");
    $queue->retryFailed([$id]);
    echo $queue->runWorker('null://null', connections: 1, log: '')->sent, " sent\n";
});
?>
--EXPECT--
empty, 4 sent: Subject: first, Subject: fields, Subject: refused, Subject: last
parked unreadable 0: the message in the database cannot be sent: byte 16: a LF without CR; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 16: a CR without LF; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 16: a CR without LF; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 16: a LF without CR; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 1: a LF without CR; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 16: a NUL; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 18015: a NUL; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 16: it does not end with CR and LF; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 17: it does not end with CR and LF; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 16: a LF without CR; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 1: it does not end with CR and LF; correct it, then retry it, or delete it
parked unreadable 0: the message in the database cannot be sent: byte 1: a LF without CR; correct it, then retry it, or delete it
parked unreadable 0: the row cannot be read: recipients is not a JSON array of addresses, envelope_from is not an address, or locked_by is not a claim token: correct it, then retry it, or delete it
parked unreadable 0: the row cannot be read: recipients is not a JSON array of addresses, envelope_from is not an address, or locked_by is not a claim token: correct it, then retry it, or delete it
parked unreadable 0: the row cannot be read: recipients is not a JSON array of addresses, envelope_from is not an address, or locked_by is not a claim token: correct it, then retry it, or delete it
parked unreadable 0: the row cannot be read: recipients is not a JSON array of addresses, envelope_from is not an address, or locked_by is not a claim token: correct it, then retry it, or delete it
parked refused 1: 250 2.0.0 taken
new  0: 
1 sent
