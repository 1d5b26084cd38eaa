--TEST--
WordPress: wp_mail() enqueues the mail, with its filters and actions
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
mbstring
intl
mysqlnd
mysqli
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
require __DIR__ . '/wordpress.inc';
echo MailQueueTest\wordpress_missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
require __DIR__ . '/wordpress.inc';

$site = new WordPress();
$database = bridge_database();
$options = ['database' => $database, 'busy_timeout' => 50];

$site->plugin(true);
echo $site->page('install', ['options' => $options]), "\n";
$installed = (new \MailQueue($database))->jobs();
check('the mail of the installation is queued', count($installed) === 1
    && $installed[0]->recipients === ['admin@example.org']
    && $installed[0]->envelopeFrom === 'wordpress@example.org', $installed);
(new \MailQueue($database))->delete([$installed[0]->id]);

$site->plugin(false);
$sink = new Sink();
$without = $site->page('send', ['smtp' => $sink->port]);
$sink->stop();
$site->plugin(true);
$with = $site->page('send', ['options' => $options]);
check('the same actions and results', $with === $without, "$with\n$without");
echo $with, "\n";
compare(['full', 'simple'], arrived($sink), deliver($database));

echo "-- locked\n";
$lock = new Lock($database);
echo preg_replace('/: .*/', ': …', $site->page('simple', ['options' => $options])), "\n";
unset($lock);
check('nothing of it is stored', waiting($database) === 0);
echo "-- no database\n", preg_replace('/: set it.*/', '', $site->page('simple')), "\n";
echo "-- options of a message\n", $site->page('simple', ['options' => $options + ['type' => 'wp'],
    'headers' => ['X-MailQueue-Reference: order 7']]), "\n";
[$job] = (new \MailQueue($database))->jobs();
check('are obeyed, and not sent', [$job->reference, $job->type] === ['order 7', 'wp']
    && !str_contains((new \MailQueue($database))->job($job->id)->message, 'X-MailQueue'), $job);
echo "-- a plugin that sets Mailer\n",
    $site->page('simple', ['options' => $options, 'mailer' => 'smtp']), "\n";
check('the queue has the last word', waiting($database) === 2);
echo "-- a plugin that sends by itself\n",
    $site->page('simple', ['options' => $options, 'preempt' => true]), "\n";
check('it has done so', waiting($database) === 2);
echo "-- a queue of the application\n", $site->page('fake'), "\n";
echo "-- without the extension\n",
    preg_replace('/ in .*/', '', $site->page('simple', ['extension' => false])), "\n";
echo "-- with WordPress's own class, since 6.8\n";
if (!is_file("$site->root/wp-includes/class-wp-phpmailer.php")) {
    file_put_contents("$site->root/wp-includes/class-wp-phpmailer.php",
        '<?php class WP_PHPMailer extends PHPMailer\PHPMailer\PHPMailer {}');
}
echo $site->page('simple', ['options' => $options, 'class' => true]), "\n";
?>
--EXPECT--
succeeded: admin@example.org
ok   the mail of the installation is queued
ok   the same actions and results
succeeded: Änn "the" Example <ann@example.net> bob@example.net "not for WordPress"@example.net Ein langer Name, der umgebrochen wird und noch etwas länger ist 🎉 <team@example.net>
succeeded: ann@example.net bob@example.net
array (
  0 => true,
  1 => true,
)
ok   the worker sent all, as the protocol wants it
ok   as many mails
ok   full: same bytes
ok   full: same envelope
ok   full: no Bcc in the message
ok   simple: same bytes
ok   simple: same envelope
ok   simple: no Bcc in the message
-- locked
failed: …
false
ok   nothing of it is stored
-- no database
failed: The ini setting mailqueue.database is empty
false
-- options of a message
succeeded: ann@example.net
true
ok   are obeyed, and not sent
-- a plugin that sets Mailer
succeeded: ann@example.net
true
ok   the queue has the last word
-- a plugin that sends by itself
false
ok   it has done so
-- a queue of the application
succeeded: ann@example.net
true
1 wordpress@example.org
-- without the extension
Warning: mailqueue: PHP has not loaded the extension; the mail is sent directly
succeeded: ann@example.net
true
-- with WordPress's own class, since 6.8
WP_PHPMailer
succeeded: ann@example.net
true
