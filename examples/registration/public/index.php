<?php

declare(strict_types=1);

// The pages of the example: registering and cancelling. ../src/Registrations.php does the work.

require __DIR__ . '/../src/Registrations.php';

const STYLE = <<<'CSS'
    body { font: 1.05rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 3rem auto;
           padding: 0 1rem; color: #222 }
    label { display: block; margin: 1rem 0 }
    input { display: block; width: 100%; padding: .5rem; font: inherit; box-sizing: border-box }
    button { padding: .6rem 1.2rem; margin-right: 1rem; font: inherit; cursor: pointer;
             background: #14532d; color: #fff; border: 0; border-radius: .3rem }
    .error { color: #991b1b }
    CSS;

function page(string $title, string $body, int $status = 200): never
{
    $policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
        . "frame-ancestors 'none'";
    $style = STYLE;
    http_response_code($status);
    header('Content-Type: text/html; charset=utf-8');
    header("Content-Security-Policy: $policy");
    header('Referrer-Policy: no-referrer'); // the address of the cancel page has a key in it
    echo <<<HTML
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>$title</title>
        <style>
        $style
        </style></head>
        <body><h1>$title</h1>
        $body</body></html>

        HTML;
    exit;
}

function html(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE);
}

function form(string $error = '', string $name = '', string $email = ''): never
{
    [$name, $email] = [html($name), html($email)];
    $hint = $error === '' ? '' : '<p class="error" role="alert">' . html($error) . '</p>';
    $body = <<<HTML
        <p>Register here. A confirmation comes by e-mail.</p>$hint
        <form method="post" action="/register">
        <label>Name
        <input name="name" maxlength="100" required autocomplete="name" value="$name"></label>
        <label>E-mail
        <input name="email" type="email" maxlength="254" required autocomplete="email"
               value="$email"></label>
        <button>Register</button></form>
        HTML;
    page('Summer School', $body, $error === '' ? 200 : 422);
}

function field(string $name): string
{
    $value = $_POST[$name] ?? $_GET[$name] ?? '';
    return is_string($value) ? trim($value) : '';
}

function isName(string $name): bool
{
    return $name !== '' && strlen($name) <= 400 && preg_match('/\A\P{Cc}+\z/u', $name) === 1;
}

function register(Registrations $registrations): never
{
    [$name, $email] = [field('name'), field('email')];
    if (!isName($name)) {
        form('Please give your name.', '', $email);
    }
    if (!filter_var($email, FILTER_VALIDATE_EMAIL)) {
        form('Please give a valid e-mail address.', $name, $email);
    }
    $new = $registrations->register($name, $email);
    $query = http_build_query(['number' => $new['number'], 'key' => $new['cancel_key']]);
    $link = html("/cancel?$query");
    page('Thank you', <<<HTML
        <p>You are registered. Your number is <strong id="number">{$new['number']}</strong>.</p>
        <p>A confirmation is on its way.</p>
        <p><a id="cancel" href="$link">Cancel this registration</a></p>
        HTML);
}

function cancel(Registrations $registrations): never
{
    [$number, $key] = [field('number'), field('key')];
    $person = $registrations->findWithKey($number, $key);
    if ($person === null) {
        page('Not found', '<p>There is no such registration.</p>', 404);
    }
    // Links in mails are followed by scanners, so looking at this page changes nothing.
    if ($_SERVER['REQUEST_METHOD'] === 'POST') {
        $registrations->cancel($number);
        page('Cancelled', '<p>Your registration is deleted.</p><p><a href="/">To the form</a></p>');
    }
    [$number, $key, $name] = [html($number), html($key), html($person['name'])];
    page('Cancel the registration?', <<<HTML
        <p>Registration <strong>$number</strong> of $name will be deleted.</p>
        <form method="post" action="/cancel"><input type="hidden" name="number" value="$number">
        <input type="hidden" name="key" value="$key">
        <button>Yes, cancel it</button><a href="/">Keep it</a></form>
        HTML);
}

$registrations = new Registrations(require __DIR__ . '/../settings.php');
$isPost = $_SERVER['REQUEST_METHOD'] === 'POST';
match (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    '/register' => $isPost ? register($registrations) : form(),
    '/cancel' => cancel($registrations),
    '/' => form(),
    default => page('Not found', '<p><a href="/">To the form</a></p>', 404),
};
