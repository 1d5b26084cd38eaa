--TEST--
microsoftgraph+https:// and gmail+https://: the message as their documentation has it, tokens of an account, who gets the mail, and errors
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--INI--
open_basedir=
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';

$accounts = temporary_directory('accounts');
putenv("MAILQUEUE_ACCOUNTS=$accounts");
$account = static function (string $token, string $endpoint = 'https://127.0.0.1:1/token') use ($accounts): void {
    file_put_contents("$accounts/shop.json", json_encode(['provider' => 'generic', 'grant' => 'refresh_token',
        'token_endpoint' => $endpoint, 'client_id' => 'client', 'scope' => 'mail', 'refresh_token' => 'refresh-01',
        'access_token' => $token, 'expires_at' => time() + 3600, 'refresh_at' => time() + 3000]));
    chmod("$accounts/shop.json", 0600);
};
$account('token-one');

$apis = [
    'microsoftgraph' => ['answer' => ['status' => 202], 'authorization' => 'Bearer token-one'],
    'gmail' => ['answer' => ['status' => 200, 'body' => '{"id":"18c","threadId":"18c"}'], 'authorization' => 'Bearer token-one'],
];
$dsn = static fn(string $name, Api $api, string $user = ''): string => "$name+https://{$user}127.0.0.1:$api->port?account=shop&tls=none";
$message = static fn(string $name, array $request): string => $name === 'gmail' ? $request['body'] : base64_decode($request['body'], true);
$fields = ['from' => 'shop@example.com', 'to' => 'Ann <a@example.org>', 'cc' => 'c@example.org', 'subject' => 'x', 'text' => 'x'];

foreach ($apis as $name => $settings) {
    echo "-- $name\n";
    $api = new Api($settings);
    $queue = new TestQueue();
    $queue->ids['no bcc'] = $queue->queue->enqueue($fields);
    $queue->ids['bcc'] = $queue->queue->enqueue(['bcc' => ['secret@example.net', 'other@example.net']] + $fields);
    $queue->recipients = ['no bcc' => [], 'bcc' => []];
    $stored = array_map(static fn(int $id): string => $queue->queue->job($id)->message, $queue->ids);
    $report = $queue->work($dsn($name, $api), connections: 1);
    echo "$report->end, $report->sent sent, $report->reason\n";
    foreach (['no bcc', 'bcc'] as $i => $which) {
        $request = $api->requests()[$i];
        echo "$request[method] $request[target], {$request['fields']['content-type']}\n";
        $rest = str_replace($stored[$which], '', $message($name, $request));
        echo "  $which: ", json_encode($rest), " before the stored message\n";
    }
    $queue = new TestQueue();
    $queue->add('mailbox', ['somebody@example.org']);
    $report = $queue->work($dsn($name, $api, 'shop%40example.com@'));
    echo "{$api->requests()[2]['target']}\n";

    echo "who gets it:\n";
    $api = new Api($settings);
    $refused = static function (string $what, TestQueue $queue) use ($dsn, $name, $api): void {
        $before = count($api->requests());
        $report = $queue->work($dsn($name, $api));
        $jobs = $queue->queue->jobs();
        $last = $jobs === [] ? 'gone' : preg_replace('/\d{4}-\d\d-\d\d/', 'DAY', (string) $jobs[0]->lastError);
        echo "  $what: $report->sent sent, ", count($api->requests()) - $before, " requests\n    $last\n";
    };
    $queue = new TestQueue();
    $queue->queue->setConfig('mailRedirectTo', 'team@example.net');
    $queue->queue->enqueue($fields);
    $refused('redirected', $queue);
    $queue = new TestQueue();
    $queue->add('other', ['other@example.org']);
    $refused('an envelope of its own', $queue);
    $queue = new TestQueue();
    $queue->queue->suppress('C@example.org', 'hard_bounce', source: '550 5.1.1 no such user');
    $queue->queue->enqueue($fields);
    $refused('suppressed in Cc', $queue);
    $queue = new TestQueue();
    $queue->queue->suppress('secret@example.net', 'complaint');
    $queue->queue->enqueue(['bcc' => ['secret@example.net', 'other@example.net']] + $fields);
    $refused('suppressed in Bcc', $queue);
    echo '    ', strtok($message($name, $api->requests()[0]), "\r"), "\n";
    $queue = new TestQueue();
    $queue->add('resent', ['somebody@example.org'], "Resent-To: x@example.org\n" . message('resent'));
    $refused('resent', $queue);
    $queue = new TestQueue();
    $queue->add('case', ['Somebody@Example.org'], message('case'));
    $refused('another case', $queue);
}

echo "-- a token that is refused\n";
$api = new Api(['answer' => ['status' => 202], 'authorization' => 'Bearer token-two']);
$tokens = new Api(['answer' => ['status' => 200, 'body' => json_encode(['access_token' => 'token-two', 'token_type' => 'Bearer', 'expires_in' => 3600])]]);
$account('token-one', "http://127.0.0.1:$tokens->port/token");
$queue = new TestQueue();
$queue->add('a', ['somebody@example.org']);
$queue->add('b', ['somebody@example.org']);
$report = $queue->work($dsn('microsoftgraph', $api), connections: 2);
echo "$report->end, $report->sent sent, $report->reason; ", count($tokens->requests()), " token requests\n";
$api = new Api(['answer' => ['status' => 202], 'authorization' => 'Bearer token-three']);
$queue = new TestQueue();
$queue->add('a', ['somebody@example.org']);
$report = $queue->work($dsn('microsoftgraph', $api));
echo "another token too: $report->end, ", $queue->state('a'), str_contains($report->reason, 'token-') ? ', shows the token' : '', ", $report->reason\n";
echo "-- errors in the shapes of the documentation\n";
$account('token-one');
$graph = static fn(string $code, string $message): array => ['error' => ['code' => $code, 'message' => $message,
    'innerError' => ['date' => '2026-11-26T10:00:00', 'request-id' => '0f', 'client-request-id' => '0f']]];
$gmail = static fn(int $status, string $domain, string $reason, string $message): array => ['error' => ['code' => $status,
    'message' => $message, 'errors' => [['message' => $message, 'domain' => $domain, 'reason' => $reason]]]];
foreach ([
    ['microsoftgraph', 403, $graph('ErrorSendAsDenied', 'No right to send for this mailbox.')],
    ['microsoftgraph', 403, $graph('ErrorAccessDenied', 'Access is denied.')],
    ['microsoftgraph', 400, $graph('ErrorInvalidRecipients', 'At least one recipient is not valid.')],
    ['gmail', 403, $gmail(403, 'usageLimits', 'rateLimitExceeded', 'Rate Limit Exceeded')],
    ['gmail', 400, $gmail(400, 'global', 'failedPrecondition', 'Mail service not enabled')],
    ['gmail', 400, $gmail(400, 'global', 'invalidArgument', 'Invalid To header')],
] as [$name, $status, $body]) {
    $api = new Api($apis[$name]);
    $api->answers($apis[$name]['answer'], ['status' => $status, 'body' => json_encode($body)]);
    $queue = new TestQueue();
    $queue->add('before', ['somebody@example.org'], priority: 1);
    $queue->add('mail', ['somebody@example.org']);
    $report = $queue->work($dsn($name, $api), connections: 1);
    echo "$report->end, $report->sent sent, ", $queue->state('mail'), ', ', $queue->queue->stats()->pausedUntil === null
        ? 'goes on' : 'is paused', "\n    ", $queue->queue->jobs()[0]->lastError ?? '', "\n";
}
echo "-- no token can be had\n";
foreach ($apis as $name => $settings) {
    $api = new Api($settings);
    $tokens = new Api(['answer' => ['status' => 400, 'body' => '{"error":"invalid_grant"}']]);
    $account('', "http://127.0.0.1:$tokens->port/token");
    $queue = new TestQueue();
    $queue->add('a', ['somebody@example.org']);
    $report = $queue->work($dsn($name, $api));
    echo "$name: $report->end, ", count(array_keys(array_column($queue->events, 'event'), 'claimed')), ' claimed, ',
        count($api->requests()), ' requests, ', count($tokens->requests()), ' token requests, ', $queue->state('a'), "\n  $report->reason\n";
}
echo "-- no account\n";
foreach (['gmail+https://default', 'gmail+https://default?account=none', 'microsoftgraph+https://me:x@default?account=shop'] as $bad) {
    try {
        echo \MailQueue::checkTransport($bad), "\n";
    } catch (\ValueError $e) {
        echo str_replace($accounts, '%', preg_replace('/^.*?cannot be used: /', '', $e->getMessage())), "\n";
    }
}
echo \MailQueue::checkTransport('gmail+https://shop%40example.com@default?account=shop'), "\n";
?>
--EXPECT--
-- microsoftgraph
empty, 2 sent, 
POST /v1.0/me/sendMail, text/plain
  no bcc: "" before the stored message
POST /v1.0/me/sendMail, text/plain
  bcc: "Bcc: secret@example.net,\r\n other@example.net\r\n" before the stored message
/v1.0/users/shop%40example.com/sendMail
who gets it:
  redirected: 0 sent, 0 requests
    recipients: this API sends to the addresses in the headers, and they name a@example.org, to whom this mail does not go (it is redirected, suppressed, or was sent there already); send it over SMTP
  an envelope of its own: 0 sent, 0 requests
    recipients: this API sends to the addresses in the headers, and they name somebody@example.org, to whom this mail does not go (it is redirected, suppressed, or was sent there already); send it over SMTP
  suppressed in Cc: 0 sent, 0 requests
    recipients: c@example.org gets no mail (suppressed: hard_bounce, DAY (550 5.1.1 no such user)), and this API would send there as well, as the headers name it; send it over SMTP
  suppressed in Bcc: 1 sent, 1 requests
    202
    Bcc: other@example.net
  resent: 0 sent, 0 requests
    message: this API sends to the addresses in the headers, and does not know Resent-To; send this mail over SMTP
  another case: 1 sent, 1 requests
    gone
-- gmail
empty, 2 sent, 
POST /upload/gmail/v1/users/me/messages/send?uploadType=media, message/rfc822
  no bcc: "" before the stored message
POST /upload/gmail/v1/users/me/messages/send?uploadType=media, message/rfc822
  bcc: "Bcc: secret@example.net,\r\n other@example.net\r\n" before the stored message
/upload/gmail/v1/users/shop%40example.com/messages/send?uploadType=media
who gets it:
  redirected: 0 sent, 0 requests
    recipients: this API sends to the addresses in the headers, and they name a@example.org, to whom this mail does not go (it is redirected, suppressed, or was sent there already); send it over SMTP
  an envelope of its own: 0 sent, 0 requests
    recipients: this API sends to the addresses in the headers, and they name somebody@example.org, to whom this mail does not go (it is redirected, suppressed, or was sent there already); send it over SMTP
  suppressed in Cc: 0 sent, 0 requests
    recipients: c@example.org gets no mail (suppressed: hard_bounce, DAY (550 5.1.1 no such user)), and this API would send there as well, as the headers name it; send it over SMTP
  suppressed in Bcc: 1 sent, 1 requests
    200 18c
    Bcc: other@example.net
  resent: 0 sent, 0 requests
    message: this API sends to the addresses in the headers, and does not know Resent-To; send this mail over SMTP
  another case: 1 sent, 1 requests
    gone
-- a token that is refused
empty, 2 sent, ; 1 token requests
another token too: relay, pending 0, the relay refuses a new token of account shop: may it send as this user? If so, log in again: mailqueue login generic --account shop; it said: 401 wrong authorization
-- errors in the shapes of the documentation
empty, 1 sent, failed 1, goes on
    403 ErrorSendAsDenied: No right to send for this mailbox.
relay, 1 sent, pending 0, is paused
    403 ErrorAccessDenied: Access is denied.
empty, 1 sent, parked 1 for refused refused somebody@example.org, goes on
    400 ErrorInvalidRecipients: At least one recipient is not valid.
relay, 1 sent, pending 0, is paused
    403 rateLimitExceeded: Rate Limit Exceeded
relay, 1 sent, pending 0, is paused
    400 failedPrecondition: Mail service not enabled
empty, 1 sent, parked 1 for refused refused somebody@example.org, goes on
    400 invalidArgument: Invalid To header
-- no token can be had
microsoftgraph: relay, 0 claimed, 0 requests, 1 token requests, pending 0
  account shop: log in again: mailqueue login generic --account shop (the refresh token has ended, was revoked or belongs to another client: invalid_grant)
gmail: relay, 0 claimed, 0 requests, 1 token requests, pending 0
  account shop: log in again: mailqueue login generic --account shop (the refresh token has ended, was revoked or belongs to another client: invalid_grant)
-- no account
transport: this API needs an OAuth2 account; write microsoftgraph+https://default?account=NAME or gmail+https://default?account=NAME, and make the account with mailqueue login
account none: %/none.json: No such file or directory; mailqueue accounts lists those that there are, mailqueue login makes one
transport: this API takes an OAuth2 account and no password; remove the password
gmail+https://shop%40example.com@default?account=shop
