--TEST--
Campaign::add() within the application's transaction does not trust its old view of the suppressions
--EXTENSIONS--
mailqueue
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['mysql'], function (Backend $backend): void {
    $pdo = $backend->pdo();
    $queue = new MailQueue($pdo);
    $campaign = $queue->campaign('spring');
    $campaign->setMessage(['from' => 'news@example.org', 'subject' => 'Hello', 'text' => 'Hello']);
    $pdo->beginTransaction();
    $queue->suppression('anybody@example.net'); // the view of the transaction is as of now
    $backend->queue()->suppress('late@example.net');
    $queue->suppress('another@example.net');
    echo $campaign->add(['late@example.net', 'fine@example.net']), " added\n";
    $pdo->commit();
    $campaign->start();
    $report = $queue->runWorker('null://null', log: '');
    echo "sent $report->sent suppressed $report->suppressed\n";
});
?>
--EXPECT--
2 added
sent 1 suppressed 1
