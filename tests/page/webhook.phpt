--TEST--
Webhooks of SES over SNS, Mailgun and Postmark: what each reports is recorded once; what is forged, old, too large, of another topic or another host is refused
--EXTENSIONS--
mailqueue
openssl
pdo_sqlite
posix
--SKIPIF--
<?php
foreach (['/usr/bin/python3', '/usr/bin/openssl'] as $program) {
    is_executable($program) || die("skip $program is missing; tools/setup installs it");
}
?>
--FILE--
<?php
require __DIR__ . '/webhook.inc';
require __DIR__ . '/../../web/autoload.php';

const KEY = 'mailgun-key-mailgun-key';
const SECRET = 'postmark:geheim-geheim-geheim';
$app = temp_directory() . '/app.sqlite';
$queue = new MailQueue($app);
$sns = new Sns();
$settings = ['sns' => [Sns::TOPIC, 'arn:aws-cn:sns:cn-north-1:123456789012:other.fifo'], 'mailgun' => KEY, 'postmark' => SECRET];
$script = fn(array $settings, string $more = ''): string => '<?php require ' . var_export(dirname(__DIR__, 2) . '/web/autoload.php', true)
    . '; (new MailQueue\Web\Webhook(fn () => new MailQueue(' . var_export($app, true) . '), ' . var_export($settings, true) . "$more))->handle();";
$amazon = ", '$sns->ca', '$sns->proxy'";
$host = serve_page($app, [], $script($settings, $amazon));

/** Whom the queue suppresses since the last call. */
$news = function () use ($queue): string {
    static $after = 0;
    $rows = $queue->suppressions(1000, $after);
    $after = $rows ? end($rows)['id'] : $after;
    return implode('', array_map(fn(array $one): string => rtrim("\n    " . implode(' | ', [$one['address'], $one['reason'], $one['scope'] ?? 'all', $one['source']])), $rows));
};
/** What is counted for an address. */
$kinds = fn(string $address): string => implode(' ', array_column(MailQueue\Internal::select($queue, 'SELECT kind FROM {!} WHERE hash = ?1',
    [MailQueue\Internal::addressHash($queue, $address)]), 0));
$basic = ['Authorization' => 'Basic ' . base64_encode(SECRET)];

echo "-- SES over SNS\n";
echo tell($host, $sns->message(['Type' => 'SubscriptionConfirmation', 'Token' => 'abc', 'Message' => 'You have chosen …',
    'SubscribeURL' => 'https://' . Sns::HOST . '/?Action=ConfirmSubscription&TopicArn=' . Sns::TOPIC . '&Token=abc'])), "\n";
echo tell($host, $sns->message(['Message' => 'Successfully validated SNS topic for Amazon SES event publishing.'])), "\n";
foreach (['1', '2'] as $version) {
    echo tell($host, $sns->event(ses_bounce("hard$version@example.net"), ['Subject' => 'Amazon SES Email Event Notification'], $version)), $news(), "\n";
}
$bounce = ses_bounce('twice@example.net');
echo tell($host, $sns->event($bounce)), $news(), ' ', tell($host, $sns->event($bounce)), $news(), "\n";
$event = ses_bounce('Quoted <quoted@example.net>');
echo tell($host, $sns->event(['eventType' => 'Bounce'] + array_diff_key($event, ['notificationType' => 1]))), $news(), "\n";
echo tell($host, $sns->event(ses_bounce('away@example.net', 'Transient', 'General', null))), $news(), "\n";
foreach ([['Permanent', 'General', '550 5.7.1 blocked by a blacklist'], ['Permanent', 'Suppressed', null], ['Transient', 'MailboxFull', '552 5.2.2 full'], ['Transient', 'General', '450 4.2.0 later'],
    ['Transient', 'ContentRejected', '554 no'], ['Undetermined', 'Undetermined', 'x']] as $i => $one) {
    echo tell($host, $sns->event(ses_bounce("kind$i@example.net", ...$one))), " $one[0] $one[1]: ", $kinds("kind$i@example.net"), $news(), "\n";
}
$event = ses_bounce('many0@example.net');
for ($i = 1; $i < 120; $i++) {
    $event['bounce']['bouncedRecipients'][] = ['emailAddress' => "many$i@example.net"] + $event['bounce']['bouncedRecipients'][0];
}
echo tell($host, $sns->event($event)), ' ', substr_count($news(), "\n"), " of one report\n";
for ($i = 0; $i < 100; $i++) {
    MailQueue\Internal::bounce($queue, 'full@example.net', 0, $i, 'blocked', 0, 'hard_bounce', null, null, time());
}
$complaint = fn(string $type, string ...$to): array => ['notificationType' => 'Complaint', 'complaint' => ['timestamp' => '2026-11-01T08:00:00.000Z',
    'complainedRecipients' => array_map(fn(string $one): array => ['emailAddress' => $one], $to), 'feedbackId' => "complaint $to[0]", 'complaintFeedbackType' => $type]];
echo tell($host, $sns->event($complaint('abuse', 'spam@example.net'))), $news(), "\n";
echo tell($host, $sns->event($complaint('abuse', 'full@example.net'))), $news(), "\n";
echo tell($host, $sns->event($complaint('not-spam', 'fine@example.net'))), $news(), "\n";
echo tell($host, $sns->event($complaint('abuse', 'one@example.net', 'two@example.net'))), $news(), "\n";
$wish = fn(bool $all, array $topics): array => ['eventType' => 'Subscription', 'mail' => ['destination' => ['bea@example.net']], 'subscription' => [
    'contactList' => 'all', 'timestamp' => '2026-11-01T08:00:00.000Z', 'newTopicPreferences' => ['unsubscribeAll' => $all, 'topicSubscriptionStatus' => $topics]]];
echo tell($host, $sns->event($wish(false, [['topicName' => 'news', 'subscriptionStatus' => 'OptOut'], ['subscriptionStatus' => 'OptOut'], ['topicName' => 'shop', 'subscriptionStatus' => 'OptIn']]))), $news(), "\n";
echo tell($host, $sns->event($wish(true, []))), $news(), "\n";
echo tell($host, $sns->event(['eventType' => 'Delivery'])), ' ', tell($host, $sns->message(['Message' => '{"eventType":"Bounce","bounce":[{"a":1}]}'])), $news(), "\n";
echo implode("\n", $sns->asked()), "\n"; // the certificate once

echo "-- SNS, forged\n";
$good = $sns->event(ses_bounce('forged@example.net'));
$other = openssl_pkey_new(['private_key_bits' => 2048]);
$forged = [
    'another message' => ['Message' => json_encode(ses_bounce('victim@example.net'))] + $good,
    'another time' => ['Timestamp' => gmdate('Y-m-d\TH:i:s.001\Z')] + $good,
    'another key' => $sns->message(['Message' => $good['Message']], key: $other),
    'no signature' => ['Signature' => ''] + $good,
    'version 3' => ['SignatureVersion' => '3'] + $good,
    'version 1 for 2' => ['SignatureVersion' => '1'] + $good,
    'a list as a message' => ['Message' => ['a']] + $good,
    'an added subject' => ['Subject' => 'x'] + $good,
    'another type' => ['Type' => 'SubscriptionConfirmation'] + $good,
    'of yesterday' => $sns->event(ses_bounce('old@example.net'), ['Timestamp' => gmdate('Y-m-d\TH:i:s\Z', time() - 43300)]),
    'of tomorrow' => $sns->event(ses_bounce('new@example.net'), ['Timestamp' => gmdate('Y-m-d\TH:i:s\Z', time() + 1000)]),
    'no time' => $sns->event(ses_bounce('new@example.net'), ['Timestamp' => 'soon']),
    'another topic' => $sns->event(ses_bounce('x@example.net'), ['TopicArn' => 'arn:aws:sns:eu-central-1:999999999999:bounces']),
    'raw message delivery' => ses_bounce('raw@example.net'),
];
foreach ($forged as $what => $body) {
    echo "$what: ", tell($host, $body), $news(), "\n";
}
$certificates = ['https://evil.example/SimpleNotificationService-01.pem', 'https://sns.eu-central-1.amazonaws.com.evil.example/SimpleNotificationService-01.pem',
    'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-01.pem', 'https://s3.amazonaws.com/SimpleNotificationService-01.pem',
    'http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-01.pem', 'https://sns.eu-central-1.amazonaws.com:8443/SimpleNotificationService-01.pem',
    'https://evil@sns.eu-central-1.amazonaws.com/SimpleNotificationService-01.pem', 'https://sns.eu-central-1.amazonaws.com/?Action=x#/SimpleNotificationService-01.pem',
    'https://sns.eu-central-1.amazonaws.com/x/../SimpleNotificationService-01.pem', "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-01.pem\n",
    'file:///etc/ssl/certs/x.pem', 'https://169.254.169.254/SimpleNotificationService-01.pem', 'https://SNS.eu-central-1.amazonaws.com/SimpleNotificationService-01.pem'];
foreach ($certificates as $url) {
    $said = tell($host, $sns->event(ses_bounce('host@example.net'), ['SigningCertURL' => $url]));
    must($said === '403 SigningCertURL is not a certificate at sns.eu-central-1.amazonaws.com.', "$url: $said");
}
foreach (['https://evil.example/?Action=ConfirmSubscription&Token=abc', 'https://' . Sns::HOST . '/?Action=Publish&Message=x',
    'https://' . Sns::HOST . '@evil.example/?Action=ConfirmSubscription&Token=abc', 'http://' . Sns::HOST . '/?Action=ConfirmSubscription&Token=abc'] as $url) {
    echo tell($host, $sns->message(['Type' => 'SubscriptionConfirmation', 'Token' => 'abc', 'Message' => '…', 'SubscribeURL' => $url])), "\n";
}
echo count($sns->asked()), ' asked', $news(), "\n";

echo "-- SNS, what its host answers\n";
$at = fn(string $name): array => $sns->event(ses_bounce("$name@example.net"), ['SigningCertURL' => 'https://' . Sns::HOST . "/SimpleNotificationService-$name.pem"]);
foreach ([['status' => 404, 'body' => 'no'], ['status' => 500, 'body' => ''], ['status' => 302, 'fields' => ['Location' => Sns::CERTIFICATE]], ['status' => 200, 'body' => 'no certificate'],
    ['raw' => "HTTP/1.1 200 OK\r\n\r\n", 'endless' => 'x'], ['do' => 'close']] as $i => $answer) {
    $sns->api->answers($answer);
    echo preg_replace('/:\d+/', '', tell($host, $at("a$i"))), $news(), "\n";
}
echo tell($host, $at('a0')), $news(), "\n", tell($host, $at('a1')), $news(), "\n";
$old = new Sns(days: 0);
$expired = serve_page($app, [], $script($settings, ", '$old->ca', '$old->proxy'"));
sleep(1);
echo tell($expired, $old->event(ses_bounce('expired@example.net'))), $news(), "\n";
$wrong = new Sns('DNS:evil.example');
$host2 = serve_page($app, [], $script($settings, ", '$wrong->ca', '$wrong->proxy'"));
echo tell($host2, $wrong->event(ses_bounce('tls@example.net'))), "\n", preg_replace('/: .*?SSL.*/', ': …', page_log($host2));
$host3 = serve_page($app, [], $script($settings, ", null, '$sns->proxy'"));
echo tell($host3, $sns->event(ses_bounce('ca@example.net'))), $news(), "\n";

echo "-- SNS, few certificates are asked for\n";
$host4 = serve_page($app, [], $script($settings, $amazon));
$sns->api->answers(...array_fill(0, 12, ['status' => 404, 'body' => 'no']));
$answers = [];
$before = count($sns->asked());
echo tell($host4, ['Signature' => ''] + $at('b')), ' ', count($sns->asked()) - $before, " asked\n";
foreach (range(1, 12) as $i) {
    foreach ([1, 2] as $time) {
        $answers[] = tell($host4, $at("b$i"));
    }
}
foreach (array_count_values($answers) as $words => $count) {
    echo "$count: $words\n";
}
echo intdiv(count($sns->asked()) - $before, 2), " asked\n";

echo "-- Mailgun\n";
$failed = fn(string $address, string $reason, string $severity = 'permanent', array $status = ['code' => 550, 'message' => '5.1.1 no such user']): array
    => ['event' => 'failed', 'severity' => $severity, 'reason' => $reason, 'recipient' => $address, 'delivery-status' => $status];
echo tell($host, mailgun($failed('mg-hard@example.net', 'bounce'), KEY)), $news(), "\n";
echo tell($host, mailgun($failed('mg-soft@example.net', 'generic', 'temporary'), KEY)), $news(), "\n";
echo tell($host, mailgun($failed('mg-before@example.net', 'suppress-bounce', status: ['code' => 605, 'message' => '', 'description' => 'Not delivering to previously bounced address']), KEY)), $news(), "\n";
foreach ([['generic', '550 5.7.1 rejected as spam'], ['bounce', '552 5.2.2 mailbox full'], ['old', '421 try later'], ['generic', 'no']] as $i => [$reason, $said]) {
    echo tell($host, mailgun($failed("mg$i@example.net", $reason, status: ['code' => (int) $said, 'message' => $said]), KEY)), " $reason, $said: ", $kinds("mg$i@example.net"), $news(), "\n";
}
foreach (['complained', 'unsubscribed', 'delivered', 'opened'] as $what) {
    echo tell($host, mailgun(['event' => $what, 'recipient' => "mg-$what@example.net"], KEY)), $news(), "\n";
}
$once = mailgun(['event' => 'unsubscribed', 'recipient' => 'back@example.net'], KEY);
echo tell($host, $once), $news(), "\n";
$queue->unsuppress('back@example.net');
echo 'replayed: ', tell($host, $once), $news(), ' ', json_encode($queue->suppression('back@example.net')), "\n";
$data = ['event' => 'complained', 'recipient' => 'victim@example.net'];
foreach (['another key' => mailgun($data, KEY . 'x'), 'old' => mailgun($data, KEY, time() - 43300), 'ahead' => mailgun($data, KEY, time() + 1000),
    'another token' => array_replace_recursive(mailgun($data, KEY), ['signature' => ['token' => 'x']]),
    'another time' => array_replace_recursive(mailgun($data, KEY), ['signature' => ['timestamp' => '1']]),
    'lists' => ['signature' => ['timestamp' => [], 'token' => [], 'signature' => []], 'event-data' => $data], 'no signature' => ['signature' => [], 'event-data' => $data]] as $what => $body) {
    echo "$what: ", tell($host, $body), $news(), "\n";
}

echo "-- Postmark\n";
$bounced = fn(string $type, string $address): array => ['RecordType' => 'Bounce', 'Type' => $type, 'ID' => crc32($type . $address), 'Email' => $address,
    'BouncedAt' => '2026-11-05T16:33:54.9070259Z', 'Description' => 'said', 'Details' => 'smtp;550 5.1.1 no such user'];
echo tell($host, $bounced('HardBounce', 'pm-hard@example.net'), $basic), $news(), "\n";
echo tell($host, $bounced('HardBounce', 'pm-header@example.net'), ['X-Webhook-Secret' => SECRET]), $news(), "\n";
echo tell($host, $bounced('Subscribe', 'pm-none@example.net'), $basic), $news(), "\n";
foreach (['SoftBounce', 'Blocked', 'SpamNotification', 'AutoResponder', 'Transient'] as $type) {
    echo tell($host, $bounced($type, "pm-$type@example.net"), $basic), " $type: ", $kinds("pm-$type@example.net"), $news(), "\n";
}
echo tell($host, ['RecordType' => 'SpamComplaint', 'Type' => 'SpamComplaint'] + $bounced('', 'pm-spam@example.net'), $basic), $news(), "\n";
$change = fn(string $address, bool $stops, string $reason, string $by = 'Recipient'): array => ['RecordType' => 'SubscriptionChange', 'Recipient' => $address, 'Origin' => $by,
    'SuppressSending' => $stops, 'SuppressionReason' => $reason, 'ChangedAt' => '2026-11-05T16:33:54Z', 'MessageID' => '883953f4'];
foreach ([['pm-leaves@example.net', true, 'ManualSuppression'], ['pm-admin@example.net', true, 'ManualSuppression', 'Admin'],
    ['pm-back@example.net', false, 'ManualSuppression'], ['pm-gone@example.net', true, 'HardBounce']] as $one) {
    echo tell($host, $change(...$one), $basic), $news(), "\n";
}
echo tell($host, ['RecordType' => 'Open'], $basic), "\n";
foreach ([[], ['Authorization' => 'Basic ' . base64_encode(SECRET . 'x')], ['Authorization' => 'Basic ' . base64_encode(':')], ['X-Webhook-Secret' => ''],
    ['Authorization' => 'Bearer ' . SECRET]] as $headers) {
    echo tell($host, $bounced('HardBounce', 'victim@example.net'), $headers), $news(), "\n";
}

echo "-- requests\n";
foreach (['GET', 'HEAD', 'PUT', 'OPTIONS'] as $method) {
    echo "$method ", tell($host, '', [], $method), "\n";
}
echo tell($host, ''), "\n", tell($host, 'x'), "\n", tell($host, '[1]'), "\n", tell($host, str_repeat('[', 100) . str_repeat(']', 100)), "\n";
echo tell($host, '{"a":"' . str_repeat('x', 2097152) . '"}'), "\n";
echo tell($host, ['RecordType' => 'Bounce', 'Type' => 'HardBounce', 'Email' => 'nobody', 'ID' => 1], $basic), "\n";
$few = serve_page($app, [], $script(['postmark' => SECRET]));
echo tell($few, $sns->event(ses_bounce('x@example.net'))), "\n", tell($few, mailgun($data, KEY)), "\n";
$hosted = serve_page($app, [], $script(['postmark' => SECRET]), HOSTED);
echo tell($hosted, $bounced('HardBounce', 'hosted@example.net'), $basic), $news(), "\n", tell($hosted, mailgun($data, KEY)), "\n";
$away = serve_page($app, [], strtr($script($settings), [var_export($app, true) => "'/nowhere/app.sqlite'"]));
echo tell($away, $bounced('HardBounce', 'away@example.net'), $basic), ' ', tell($away, $bounced('Subscribe', 'away@example.net'), $basic), "\n";

echo "-- settings\n";
foreach ([[], ['ses' => 'x'], ['mailgun' => false], ['mailgun' => ''], ['postmark' => 'a:b'], ['sns' => []], ['sns' => 'arn:aws:sqs:eu-central-1:123456789012:x'],
    ['sns' => 'arn:aws:sns:evil.example/:123456789012:x']] as $bad) {
    echo thrown(fn() => new MailQueue\Web\Webhook($queue, $bad)), "\n";
}
$logs = page_log($host) . page_log($host2) . page_log($away);
must($logs !== '' && !str_contains($logs, KEY) && !str_contains($logs, SECRET) && !str_contains($logs, 'geheim'), 'no secret in the log');
?>
--EXPECT--
-- SES over SNS
200 Nothing to do.
200 Nothing to do.
200 Done.
    hard1@example.net | hard_bounce | all | ses: 550 5.1.1 no such user
200 Done.
    hard2@example.net | hard_bounce | all | ses: 550 5.1.1 no such user
200 Done.
    twice@example.net | hard_bounce | all | ses: 550 5.1.1 no such user 200 Done.
200 Done.
    quoted@example.net | hard_bounce | all | ses: 550 5.1.1 no such user
200 Done.
200 Done. Permanent General: blocked
200 Done. Permanent Suppressed: hard
    kind1@example.net | hard_bounce | all | ses:
200 Done. Transient MailboxFull: quota
200 Done. Transient General: soft
200 Done. Transient ContentRejected: policy
200 Done. Undetermined Undetermined: unknown
200 Done. 120 of one report
200 Done.
    spam@example.net | complaint | all | ses: abuse
200 Done.
    full@example.net | complaint | all | ses: abuse
200 Nothing to do.
200 Nothing to do.
200 Done.
    bea@example.net | unsubscribe | list:news | ses:
200 Done.
    bea@example.net | unsubscribe | all | ses:
200 Nothing to do. 200 Nothing to do.
CONNECT sns.eu-central-1.amazonaws.com:443 HTTP/1.1
CONNECT sns.eu-central-1.amazonaws.com:443 HTTP/1.1
GET /SimpleNotificationService-0123456789abcdef.pem
GET /?Action=ConfirmSubscription&TopicArn=arn:aws:sns:eu-central-1:123456789012:bounces&Token=abc
-- SNS, forged
another message: 403 The signature of the SNS message is wrong.
another time: 403 The signature of the SNS message is wrong.
another key: 403 The signature of the SNS message is wrong.
no signature: 403 The signature of the SNS message is wrong.
version 3: 403 The message of SNS is not signed as it should be (raw message delivery must be off).
version 1 for 2: 403 The signature of the SNS message is wrong.
a list as a message: 403 The message of SNS is not signed as it should be (raw message delivery must be off).
an added subject: 403 The signature of the SNS message is wrong.
another type: 403 The message of SNS is not signed as it should be (raw message delivery must be off).
of yesterday: 403 The request is too old, or the clock of this host is wrong.
of tomorrow: 503 The time of the request lies ahead: is this clock slow?
no time: 403 The request is too old, or the clock of this host is wrong.
another topic: 403 The message is of another topic than those of 'sns'.
raw message delivery: 400 This is not an event of a service that is known here.
403 SubscribeURL does not confirm a subscription at sns.eu-central-1.amazonaws.com.
403 SubscribeURL does not confirm a subscription at sns.eu-central-1.amazonaws.com.
403 SubscribeURL does not confirm a subscription at sns.eu-central-1.amazonaws.com.
403 SubscribeURL does not confirm a subscription at sns.eu-central-1.amazonaws.com.
4 asked
-- SNS, what its host answers
403 SNS answers HTTP 404.
503 Nothing is stored: try again later.
503 Nothing is stored: try again later.
403 There is no valid certificate at SigningCertURL.
503 Nothing is stored: try again later.
503 Nothing is stored: try again later.
403 There was no valid certificate at SigningCertURL a short time ago.
200 Done.
    a1@example.net | hard_bounce | all | ses: 550 5.1.1 no such user
403 There is no valid certificate at SigningCertURL.
503 Nothing is stored: try again later.
mailqueue webhook: …
503 Nothing is stored: try again later.
-- SNS, few certificates are asked for
403 The signature of the SNS message is wrong. 0 asked
10: 403 SNS answers HTTP 404.
10: 403 There was no valid certificate at SigningCertURL a short time ago.
4: 503 Nothing is stored: try again later.
10 asked
-- Mailgun
200 Done.
    mg-hard@example.net | hard_bounce | all | mailgun: 550 5.1.1 no such user
200 Nothing to do.
200 Done.
    mg-before@example.net | hard_bounce | all | mailgun: 605 Not delivering to previously bounced address
200 Done. generic, 550 5.7.1 rejected as spam: policy
200 Done. bounce, 552 5.2.2 mailbox full: quota
200 Done. old, 421 try later: soft
200 Done. generic, no: hard
    mg3@example.net | hard_bounce | all | mailgun: no
200 Done.
    mg-complained@example.net | complaint | all | mailgun:
200 Done.
    mg-unsubscribed@example.net | unsubscribe | all | mailgun:
200 Nothing to do.
200 Nothing to do.
200 Done.
    back@example.net | unsubscribe | all | mailgun:
replayed: 200 Done. []
another key: 403 The signature is wrong: is 'mailgun' the HTTP webhook signing key of this account?
old: 403 The request is too old, or the clock of this host is wrong.
ahead: 503 The time of the request lies ahead: is this clock slow?
another token: 403 The signature is wrong: is 'mailgun' the HTTP webhook signing key of this account?
another time: 403 The signature is wrong: is 'mailgun' the HTTP webhook signing key of this account?
lists: 403 The signature is wrong: is 'mailgun' the HTTP webhook signing key of this account?
no signature: 403 The signature is wrong: is 'mailgun' the HTTP webhook signing key of this account?
-- Postmark
200 Done.
    pm-hard@example.net | hard_bounce | all | postmark: smtp;550 5.1.1 no such user
200 Done.
    pm-header@example.net | hard_bounce | all | postmark: smtp;550 5.1.1 no such user
200 Nothing to do.
200 Done. SoftBounce: soft
200 Done. Blocked: blocked
200 Done. SpamNotification: policy
200 Done. AutoResponder: 
200 Nothing to do. Transient: 
200 Done.
    pm-spam@example.net | complaint | all | postmark: smtp;550 5.1.1 no such user
200 Done.
    pm-leaves@example.net | unsubscribe | all | postmark:
200 Nothing to do.
200 Nothing to do.
200 Done.
    pm-gone@example.net | hard_bounce | all | postmark:
200 Nothing to do.
403 The user and password, or the header X-Webhook-Secret, are wrong or missing.
403 The user and password, or the header X-Webhook-Secret, are wrong or missing.
403 The user and password, or the header X-Webhook-Secret, are wrong or missing.
403 The user and password, or the header X-Webhook-Secret, are wrong or missing.
403 The user and password, or the header X-Webhook-Secret, are wrong or missing.
-- requests
GET 405 This address takes POST only.
HEAD 405 
PUT 405 This address takes POST only.
OPTIONS 405 This address takes POST only.
400 This is not an event of a service that is known here.
400 This is not an event of a service that is known here.
400 This is not an event of a service that is known here.
400 This is not an event of a service that is known here.
413 The body has more than 2097152 octets.
200 Done.
403 This webhook is not set up for sns.
403 This webhook is not set up for mailgun.
200 Done.
    hosted@example.net | hard_bounce | all | postmark: smtp;550 5.1.1 no such user
403 This webhook is not set up for mailgun.
503 Nothing is stored: try again later. 200 Nothing to do.
-- settings
ValueError: Name a service: sns, mailgun, postmark.
ValueError: There is no service "ses"; known are sns, mailgun, postmark.
ValueError: 'mailgun', the HTTP webhook signing key, is missing, or shorter than 16 octets; without it anybody could report events.
ValueError: 'mailgun', the HTTP webhook signing key, is missing, or shorter than 16 octets; without it anybody could report events.
ValueError: 'postmark', the secret "user:password" of the webhook's URL or header, is missing, or shorter than 16 octets; without it anybody could report events.
ValueError: 'sns' names no topic.
ValueError: 'sns' must be the ARN of a topic, or a list of them, such as arn:aws:sns:eu-central-1:123456789012:bounces.
ValueError: 'sns' must be the ARN of a topic, or a list of them, such as arn:aws:sns:eu-central-1:123456789012:bounces.
