--TEST--
var_dump(), print_r() and stack traces show no password, key or session of the page and its webhooks
--EXTENSIONS--
mailqueue
--ENV--
MAILQUEUE_PAGE_HASH=geheim-hash
--INI--
zend.exception_ignore_args=0
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/../../web/autoload.php';

use MailQueue\Web\{Options, Page, Request, Session, Unsubscribe, Webhook};

$password = 'geheim-password';
$open = static fn(): MailQueue => new MailQueue("pgsql:host=x;password=$password");
$number = str_repeat('9e4e1', 6) . '00';
$page = new Page($open, static fn(): ?string => $password, 'ann', true, ['192.0.2.1'], ['page' => 'mail']);
foreach ([
    new Options(null, null),
    new Session(new Request([], [], ['mailqueue' => $number], []), false, 'geheim-key'),
    $page,
    new Webhook($open, ['mailgun' => 'geheim-geheim-geheim', 'postmark' => 'postmark:geheim-geheim']),
    new Unsubscribe($open, ['news' => 'Our news'], static fn() => print $password),
] as $one) {
    ob_start();
    var_dump($one);
    $dump = ob_get_clean() . print_r($one, true);
    echo $one::class, ': ', preg_match_all('/geheim|9e4e1/', $dump), " secrets\n";
}
print_r($page);

foreach (['mailgun', 'postmark'] as $service) {
    try {
        new Webhook($open, [$service => 'geheim']);
    } catch (ValueError $e) { // PHP 8.1 has no SensitiveParameter
        echo "$service: ", PHP_VERSION_ID < 80200 ? 0 : preg_match_all('/geheim/', print_r($e->getTrace(), true)), " secrets\n";
    }
}
?>
--EXPECT--
MailQueue\Web\Options: 0 secrets
MailQueue\Web\Session: 0 secrets
MailQueue\Web\Page: 0 secrets
MailQueue\Web\Webhook: 0 secrets
MailQueue\Web\Unsubscribe: 0 secrets
MailQueue\Web\Page Object
(
    [options] => MailQueue\Web\Options Object
        (
            [hasHash] => 1
            [bodies] => 1
            [proxies] => Array
                (
                    [0] => 192.0.2.1
                )

        )

    [user] => ann
    [keep] => Array
        (
            [page] => mail
        )

    [orphanCheck] => 
)
mailgun: 0 secrets
postmark: 0 secrets
