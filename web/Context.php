<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue;
use MailQueue\Stats;

/** What a view or an action works with. */
final class Context
{
    private ?Stats $stats = null;

    /** @param string $role "admin" or "viewer" */
    public function __construct(
        public readonly MailQueue $queue,
        public readonly Request $request,
        public readonly Texts $texts,
        public readonly Links $links,
        public readonly Session $session,
        public readonly string $role,
        public readonly string $user,
        public readonly bool $showsBodies,
        public readonly ?string $orphanCheck,
    ) {
    }

    public function t(string $text, string|int ...$values): string
    {
        return $this->texts->t($text, ...$values);
    }

    /** Asked for once: a view shows the counts, and the frame around it says if it is test mode. */
    public function stats(): Stats
    {
        return $this->stats ??= $this->queue->stats(Figures::EXACT);
    }

    public function isAdmin(): bool
    {
        return $this->role === 'admin';
    }

    /** Messages can be accounts: a mail that resets a password is one. */
    public function mayReadBodies(): bool
    {
        return $this->isAdmin() && $this->showsBodies;
    }

    public function whyNoBodies(): string
    {
        return $this->isAdmin() ? $this->t('Messages are hidden: one that resets a password is '
            . 'worth an account. MAILQUEUE_PAGE_BODIES=1 shows them to admins.')
            : $this->t('Messages are hidden from viewers.');
    }

    /**
     * A form that does something: $action, or if that is '' what its buttons name.
     *
     * @param array<string, string|int> $fields hidden ones
     * @param array<string, string|bool> $attributes
     */
    public function form(
        string $action,
        array $fields,
        mixed $content,
        array $attributes = []
    ): Html {
        $hidden = [];
        $own = ['token' => $this->session->token()] + ($action === '' ? [] : ['action' => $action]);
        foreach ($own + $fields as $name => $value) {
            $hidden[] = Html::e('input', ['type' => 'hidden', 'name' => $name, 'value' => $value]);
        }
        $to = $this->links->to($this->request->view(), ['id' => $this->request->text('id')]);
        $attributes += ['method' => 'post', 'action' => $to];
        return Html::e('form', $attributes, $hidden, $content);
    }

    /** @param string $of what it is about, for screen readers, where others have the same text */
    public function button(string $text, string $class = '', string $of = ''): Html
    {
        return Html::e('button', ['type' => 'submit', 'class' => $class ?: null,
            'aria-label' => $of === '' ? null : "$text: $of"], $text);
    }

    /** The id of a mail that the URL or the form names. */
    public function id(): int
    {
        $text = $this->request->field('id') ?? $this->request->text('id') ?? '';
        return preg_match('/\A[1-9]\d{0,17}\z/', $text) === 1 ? (int) $text : throw new Refusal(
            $this->t('"%s" is not the id of a mail. The list shows the ids.', $text)
        );
    }

    /**
     * After an action: the view, and what was done there.
     *
     * @param array<string, string> $filter of the list
     */
    public function done(
        string $what,
        int $count = 0,
        string $view = '',
        array $filter = []
    ): Response {
        return Response::redirect($this->links->to($view ?: $this->request->view(), $filter + [
            'id' => $this->request->text('id'), 'done' => $what, 'count' => $count]));
    }
}
