--TEST--
The trace is read, stopped and begun again while a run writes to it
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/smtp.inc';
use MailQueue\Internal;

$server = new SmtpServer();
$queue = new MailQueue(database());
$queue->enqueueMany(array_map(static fn(int $i): array => ['message' => ['subject' => "mail $i"] + mail_fields()], range(1, 3)));
Internal::trace(true);
$parts = [];
$report = $queue->runWorker("smtp://127.0.0.1:$server->port", connections: 1, batch: 1, log: '', onEvent: static function (array $event) use (&$parts): void {
    if ($event['event'] === 'sent') {
        $parts[] = Internal::trace(false);
        Internal::trace(true);
    }
});
$parts[] = Internal::trace(false);
echo $report->sent, " sent\n";
foreach ($parts as $part) {
    echo implode(' ', array_intersect(preg_split('/\W+/', $part), ['EHLO', 'MAIL', 'RCPT', 'QUIT'])), "\n";
}
$queue->enqueue(mail_fields());
$queue->runWorker("smtp://127.0.0.1:$server->port", log: '');
var_dump(Internal::trace(true)); // left on when the request ends
$server->end();
?>
--EXPECT--
3 sent
EHLO MAIL RCPT
MAIL RCPT
MAIL RCPT
QUIT
string(0) ""
