--TEST--
The page in German: every text of the code has a translation with the same places, and no translation is left over
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/page.inc';

/** @return list<array|string> a file's tokens; "%s" is what is interpolated into a text */
function tokens(string $file): array
{
    $tokens = [];
    $text = null;
    foreach (token_get_all(file_get_contents($file)) as $token) {
        $kind = is_array($token) ? $token[0] : $token;
        if ($kind === '"') {
            $text === null || $tokens[] = [T_CONSTANT_ENCAPSED_STRING, '"' . preg_replace('/(%s)+/', '%s', $text) . '"'];
            $text = $text === null ? '' : null;
        } elseif ($text !== null) {
            $text .= $kind === T_ENCAPSED_AND_WHITESPACE ? $token[1] : '%s';
        } elseif (!in_array($kind, [T_WHITESPACE, T_COMMENT], true)) {
            $tokens[] = $token;
        }
    }
    return $tokens;
}

/** @return list<string> the texts of a file's PHP; those joined by a dot are one */
function texts(string $file): array
{
    $tokens = tokens($file);
    $texts = [];
    for ($i = 0, $joined = ''; $i < count($tokens); $i++) {
        if (is_array($tokens[$i]) && $tokens[$i][0] === T_CONSTANT_ENCAPSED_STRING) {
            $joined .= stripslashes(substr($tokens[$i][1], 1, -1));
            if (($tokens[$i + 1] ?? '') === '.' && is_array($tokens[$i + 2]) && $tokens[$i + 2][0] === T_CONSTANT_ENCAPSED_STRING) {
                $i++;
                continue;
            }
            $texts[] = $joined;
            $joined = '';
        }
    }
    return $texts;
}
$web = dirname(__DIR__, 2) . '/web';
$used = [];
foreach ([...array_diff(glob("$web/*.php"), ["$web/Webhook.php"]), ...glob("$web/View/*.php"), ...glob("$web/Action/*.php")] as $file) {
    array_push($used, ...texts($file));
}
foreach (MailQueue::configKeys() as $about) {
    $used[] = $about['meaning'];
}
$words = ['pending', 'sending', 'failed', 'parked', 'held', 'sent', 'try_later', 'refused', 'uncertain', 'expired', 'orphan', 'released', 'resent', 'stale', 'exhausted', 'hold', 'unreadable', 'suppressed', 'draft', 'running', 'paused', 'cancelled', 'finished', 'gone'];
$german = require "$web/texts/de.php";
// A sentence for people, or a label: a capital letter or %s, then words.
$isText = static fn(string $text): bool => preg_match('/\A(?:%s |"%s"|[A-Z])[^<>{}\\\\]*[a-z]{2}[^<>{}\\\\]*[ .?:][^<>{}\\\\]*\z/', $text) === 1
    && !preg_match('/\A(SELECT|SUM|WHERE|AND|FROM|Content-|Cache|X-|Cross|Referrer|Permissions|The body has)|SameSite|\ASet-Cookie|\A[A-Z][\w-]+: \z|No such part/', $text);
foreach (array_unique(array_filter($used, $isText)) as $text) {
    isset($german[$text]) || print("no German: $text\n");
}
foreach ($german as $english => $text) {
    in_array($english, [...$used, ...$words], true) || print("not in the code: $english\n");
    must(substr_count($english, '%s') === substr_count($text, '%s'), $english);
}
echo count($german) > 150 ? "translated\n" : "few\n";

$app = temp_directory() . '/app.sqlite';
$queue = new MailQueue($app);
$queue->enqueue(mail_fields());
$host = serve_page($app);
$browser = new Browser($host, ['Accept-Language' => 'fr;q=0.9, de-DE;q=0.8']);
echo $browser->get()->text(), ' ', preg_match('/<html lang="de">/', $browser->body), "\n";
$browser->logIn();
echo $browser->text(), ' | ', $browser->text('.counts'), "\n";
echo $browser->get('/?view=overview&language=en')->text(), ' ', $browser->get('/?view=mails')->text('caption'), "\n";
echo $browser->get('/?view=mails&type[]=x&language=de')->said(), "\n";
echo $browser->get('/?view=overview&language=xx')->status, ' ', $browser->text(), "\n";
$test = new Browser(serve_page($app, ['MAILQUEUE_REDIRECT_TO' => 'test@example.org', 'MAILQUEUE_ALLOW_TO' => '@example.org']));
echo $test->logIn()->text('.alarm'), "\n";
?>
--EXPECT--
translated
Anmelden 1
Übersicht | 1  wartet      0  im Versand      0  fehlgeschlagen      0  geparkt
Overview Mails
400 „type“ muss eine Zeile Text sein. Nichts wurde geändert.
200 Übersicht
Test mode of this machine: all mail goes to test@example.org, not to its recipients (MAILQUEUE_REDIRECT_TO). Only these still get theirs: @example.org.
