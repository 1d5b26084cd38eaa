--TEST--
What the page says that a relay's reply means; words of addresses and host names do not count
--FILE--
<?php
require dirname(__DIR__, 2) . '/web/autoload.php';
foreach ([
    '250 2.0.0 Ok: queued as 535', '550 5.1.1 <login@example.com>: User unknown', '550 5.1.1 <x@corporate.example>: Recipient address rejected',
    'x@quota.example: 550 no such user', '554 5.7.1 <x@corporate.example>: rejected as spam', '552 5.3.4 message of 250 MB too large', '550 5.4.1 Recipient address rejected: Access denied',
    '454 4.7.0 TLS not available', '421 4.7.0 ssl.example.org too many connections', '535 5.7.8 Authentication failed', '550-5.7.26 All senders have to authenticate with SPF or DKIM',
    '450 4.2.0 <a@example.org>: Recipient address rejected: Greylisted', '554 5.7.1 <a@example.org>: Relay access denied', '553 5.1.8 Sender address rejected: Domain not found', '552 5.2.2 Mailbox full',
    'Could not resolve host: relay.example.org', 'relay.example.org:25 refused to connect', '550 5.7.1 refused', '554 sorry', '452 later', 'exit 75',
    'account office: log in again: mailqueue login microsoft --account office (the refresh token has ended, was revoked or belongs to another client)', 'account a@example.org: no token came: Failed to connect to login.example',
    'the relay refuses a new token of account main: may it send as this user? If so, log in again: mailqueue login generic --account main; it said: 535 5.7.8 Authentication failed.',
] as $reply) {
    echo "$reply\n  ", MailQueue\Web\Meaning::of($reply)[0], "\n";
}
?>
--EXPECT--
250 2.0.0 Ok: queued as 535
  The relay has accepted the mail.
550 5.1.1 <login@example.com>: User unknown
  There is no such mailbox.
550 5.1.1 <x@corporate.example>: Recipient address rejected
  There is no such mailbox.
x@quota.example: 550 no such user
  There is no such mailbox.
554 5.7.1 <x@corporate.example>: rejected as spam
  The mail was refused by a rule, often against spam.
552 5.3.4 message of 250 MB too large
  The mail is too large.
550 5.4.1 Recipient address rejected: Access denied
  There is no such mailbox.
454 4.7.0 TLS not available
  The encrypted connection failed.
421 4.7.0 ssl.example.org too many connections
  The relay wants fewer mails or connections.
535 5.7.8 Authentication failed
  The relay does not accept the login.
550-5.7.26 All senders have to authenticate with SPF or DKIM
  The mail was refused by a rule, often against spam.
450 4.2.0 <a@example.org>: Recipient address rejected: Greylisted
  The recipient's server asks to try again later.
554 5.7.1 <a@example.org>: Relay access denied
  The relay does not send for this login or sender.
553 5.1.8 Sender address rejected: Domain not found
  The relay does not accept the sender.
552 5.2.2 Mailbox full
  The mailbox is full.
Could not resolve host: relay.example.org
  The relay's name was not found.
relay.example.org:25 refused to connect
  The relay could not be reached.
550 5.7.1 refused
  The mail was refused by a rule, often against spam.
554 sorry
  The relay refused the mail for good.
452 later
  The relay could not take the mail now.
exit 75
  The attempt did not succeed.
account office: log in again: mailqueue login microsoft --account office (the refresh token has ended, was revoked or belongs to another client)
  The worker has no access token that the relay accepts.
account a@example.org: no token came: Failed to connect to login.example
  The worker has no access token that the relay accepts.
the relay refuses a new token of account main: may it send as this user? If so, log in again: mailqueue login generic --account main; it said: 535 5.7.8 Authentication failed.
  The worker has no access token that the relay accepts.
