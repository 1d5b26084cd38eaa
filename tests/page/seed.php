<?php
/* Fills the database of tests/page/browser.mjs: seed.php PATH KIND [URL of the canary] */
declare(strict_types=1);

[, $path, $kind] = $argv;
$canary = $argv[3] ?? '';
$queue = new MailQueue($path);
$mail = static fn(array $fields): array => $fields + ['from' => 'Club <club@example.org>', 'subject' => 'Your registration', 'text' => "Hello\n"];

if ($kind === 'one') {
    echo $queue->enqueue($mail(['to' => 'late@example.net', 'subject' => 'A late mail']), priority: 50), "\n";
    exit;
}
if ($kind === 'failed') {
    // The three with the highest priority.
    foreach ([1, 2, 3] as $i) {
        $queue->enqueue($mail(['to' => "failed$i@example.net"]), type: 'invoice', priority: 100);
    }
    foreach (['550 5.1.1 User unknown', '552 5.2.2 Mailbox full', '554 5.7.1 Rejected by policy'] as $reply) {
        $queue->fail($queue->claim()[0], $reply, permanent: true);
    }
    exit;
}
if ($kind === 'uncertain') {
    foreach (range(1, 4) as $i) {
        $queue->hold([$queue->enqueue($mail(['to' => "uncertain$i@example.net"]), type: 'invoice')]);
    }
    (new PDO("sqlite:$path"))->exec("UPDATE mail_queue SET parked_for = 'uncertain', uncertain = 1, uncertain_to = recipients, last_attempt_at = created_at WHERE recipients LIKE '%uncertain%'");
    exit;
}
if ($kind === 'campaign' || $kind === 'refuse') { // the limit is not what this is about
    $queue->setConfig('mailReserve', 0);
    $queue->setConfig('mailTokens', 20);
    $queue->setConfig('mailLastRefill', time());
}
if ($kind === 'campaign') {
    foreach (['winter' => 3, 'spring' => 40] as $name => $count) {
        $campaign = $queue->campaign($name);
        $campaign->setMessage(['from' => 'News <news@example.org>', 'subject' => 'Hello', 'text' => 'Hello']);
        $campaign->add(array_map(static fn(int $i): string => "reader$i@example.net", range(1, $count)));
    }
    exit;
}
if ($kind === 'refuse') { // the next two mails
    $queue->runWorker(static fn() => throw new MailQueue\RefusedException('no such user', 550), messageLimit: 2, log: '');
    exit;
}
$queue->setConfig('mailHistoryDays', 30);
foreach (range(1, 12) as $i) {
    $queue->enqueue($mail(['to' => "member$i@example.net", 'subject' => $i % 2 ? 'Your registration' : 'Newsletter November']), "r$i",
        $i % 2 ? 'registration' : 'news', sendAt: time() + 3600 * $i);
}
$hostile = <<<HTML
    <base href="$canary/base/"><meta http-equiv="refresh" content="1;url=$canary/refresh"><link rel="stylesheet" href="$canary/css">
    <link rel=preconnect href="$canary"><link/rel=prefetch href="$canary/prefetch"><link rel=dns-prefetch href="//canary.example">
    <style>@import "$canary/import"; body { background: url($canary/background) } @font-face { font-family: x; src: url($canary/font) } p { font-family: x }</style>
    <p id="hello" style="background: url('$canary/inline')">Hello from the mail</p>
    <script>top.document.title = 'hacked'; fetch('$canary/script')</script><script src="$canary/remote.js"></script>
    <img src="x" onerror="top.document.title = 'hacked'; new Image().src = '$canary/onerror'"><img src="$canary/pixel.png" srcset="$canary/set.png 2x">
    <svg><script>top.document.title = 'hacked'</script><image href="$canary/svg" /><use href="$canary/use#x" /><animate onbegin="top.document.title = 'hacked'" attributeName=x dur=1s /></svg>
    <iframe src="$canary/frame"></iframe><object data="$canary/object"></object><embed src="$canary/embed"><video src="$canary/video" poster="$canary/poster" autoplay></video>
    <form action="$canary/form"><input autofocus onfocus="top.document.title = 'hacked'; this.form.submit()"><button id="send">Send</button></form>
    <link
    rel=stylesheet href="$canary/newline"><svg><link xmlns="http://www.w3.org/1999/xhtml" rel="stylesheet" href="$canary/foreign" /><foreignObject><meta http-equiv="refresh" content="0;url=$canary/foreign-refresh"></foreignObject></svg>
    <table background="$canary/table"><tr><td>x</table><input type="image" src="$canary/input"><audio src="$canary/audio" preload autoplay></audio><picture><source srcset="$canary/source"><img src="cid:x"></picture>
    <div style="background: image-set('$canary/image-set' 1x); list-style: url($canary/list); cursor: url($canary/cursor), auto; content: url($canary/content)">x</div>
    <div><template shadowrootmode="open"><link rel="stylesheet" href="$canary/shadow"><img src="$canary/shadow.png"></template></div><noscript><img src="$canary/noscript"></noscript>
    <img src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3Cimage href='$canary/inner'/%3E%3C/svg%3E"><meta name="referrer" content="unsafe-url"><base target="_top">
    <a id="here" href="$canary/here">Here</a><a id="js" href="javascript:top.document.title='hacked'">js</a>
    <a id="away" href="$canary/link" ping="$canary/ping" target="_top">Away</a><details open ontoggle="top.document.title = 'hacked'"><summary>x</summary></details>
    HTML;
echo $queue->enqueue($mail(['to' => 'victim@example.net', 'subject' => 'Hostile <script>alert(1)</script>', 'html' => $hostile]), 'hostile', sendAt: time() + 86400), "\n";
$pdo = new PDO("sqlite:$path");
$hour = intdiv(time(), 3600) * 3600;
foreach (range(0, 23) as $ago) {
    $count = 20 + 17 * $ago % 41;
    $pdo->exec("INSERT INTO mail_count (hour, mail_type, event, part, mails, recipients) VALUES ($hour - 3600 * $ago, 'news', 'sent', 7, $count, $count)");
}
foreach (range(0, 59) as $ago) {
    for ($n = $ago * 7 % 5; $n > 0; $n--) {
        $pdo->exec('INSERT INTO mail_log (at, job_id, mail_type, relay, event, phase, attempt, recipients, uncertain, reply, ms, waited) VALUES (' . (time() - 60 * $ago)
            . ", 5000, 'news', 'smtp://mail.example.org:587', 'sent', 'dot', 1, 1, 0, '250 2.0.0 Ok: queued', 40, 3)");
    }
}
