<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** The page's own login, for a site that has none: one password. */
final class Login
{
    public function __construct(
        private readonly Texts $texts,
        private readonly Layout $layout,
        private readonly Links $links,
        private readonly Session $session,
    ) {
    }

    public function form(?string $error = null, int $status = 403): Response
    {
        $form = Html::e(
            'form',
            ['method' => 'post', 'class' => 'login',
            'action' => $this->links->to('overview')],
            Html::e('input', ['type' => 'hidden', 'name' => 'action', 'value' => 'log-in']),
            Html::e('input', ['type' => 'hidden', 'name' => 'token',
                'value' => $this->session->token()]),
            Html::e('input', ['type' => 'text', 'name' => 'user', 'value' => 'admin',
                'autocomplete' => 'username', 'hidden' => true]), // for password managers
            Html::e('label', ['for' => 'password'], $this->texts->t('Password')),
            Html::e('input', ['type' => 'password', 'name' => 'password', 'id' => 'password',
                'required' => true, 'autocomplete' => 'current-password', 'autofocus' => true]),
            Html::e('button', ['type' => 'submit'], $this->texts->t('Log in'))
        );
        $title = $this->texts->t('Log in');
        $header = Html::e('header', [], Html::e('strong', ['class' => 'name'], 'mailqueue'));
        return new Response($this->layout->document($title, $header, Html::all(
            Html::e('h1', [], $title),
            $error === null ? null : Html::e('p', ['class' => 'alarm', 'role' => 'alert'], $error),
            $form
        )), $status);
    }

    public function check(
        Request $request,
        #[\SensitiveParameter] string $hash,
        string $address
    ): Response {
        $throttle = new Throttle($address);
        $wait = $throttle->take();
        if ($wait > 0) {
            Journal::note(null, "visitor@$address", 'login: too many attempts');
            return $this->form($this->texts->t(
                'Too many attempts. Try again in %s.',
                $this->texts->span($wait)
            ), 429);
        }
        $password = $request->form['password'] ?? null;
        if (!is_string($password) || !password_verify($password, $hash)) {
            Journal::note(null, "visitor@$address", 'login: wrong password');
            return $this->form($this->texts->t('This is not the password.'));
        }
        $throttle->forget();
        $this->session->logIn();
        Journal::note(null, "admin@$address", 'logged in');
        return Response::redirect($this->links->to('overview'));
    }
}
