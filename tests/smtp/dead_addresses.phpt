--TEST--
Dead addresses in a row are refused and do not stop the queue
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

$mails = $jobs = $accepted = [];
for ($i = 1; $i <= 8; $i++) {
    $mails["dead$i"] = ["dead$i@example.org"];
    $jobs["dead$i"] = "parked 1 for refused refused dead$i@example.org";
}
for ($i = 1; $i <= 5; $i++) {
    $mails["t$i"] = ["a$i@example.org"];
    $accepted[] = "t$i a$i@example.org";
}
$case = ['script' => 'at rcpt match=dead* reply="550 5.1.1 no such user"', 'mails' => $mails,
    'jobs' => $jobs, 'accepted' => $accepted];
check_cases([
    'one connection' => $case,
    'four connections' => ['options' => ['connections' => 4]] + $case,
    'nobody else is waiting' => ['mails' => array_slice($mails, 0, 8), 'accepted' => []] + $case,
    'at the dot' => ['script' => 'at dot testid=dead* reply="550 5.1.1 no such user"'] + $case,
    'without enhanced codes' => ['script' => 'at rcpt match=dead* reply="550 no such user"']
        + $case,
]);
?>
--EXPECT--
all as expected
