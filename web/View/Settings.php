<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue;
use MailQueue\Web\Html;

/** Every key of the config table: its meaning and range are the extension's. */
final class Settings extends View
{
    public function title(): string
    {
        return $this->t('Settings');
    }

    public function content(): Html
    {
        $ours = $kept = [];
        foreach (MailQueue::configKeys() as $key => $about) {
            $about['internal'] ? $kept[] = $this->kept($key, $about)
                : $ours[] = $this->setting($key, $about);
        }
        return Html::all(
            Html::e('ul', ['class' => 'settings'], $ours),
            Html::e('h2', [], $this->t('Kept by the queue')),
            Html::e('ul', ['class' => 'settings'], $kept)
        );
    }

    /** @param array{type: string, range: string, default: string, meaning: string} $about */
    private function setting(string $key, array $about): Html
    {
        $value = $this->context->queue->config($key);
        $default = $about['default'] === '' ? $this->t('not set') : $about['default'];
        $isAdmin = $this->context->isAdmin();
        return $this->item(
            Html::e($isAdmin ? 'label' : 'strong', ['for' => $isAdmin ? "k-$key" : null], $key),
            "m-$key",
            $about,
            $isAdmin ? $this->context->form('set', ['key' => $key], Html::all(
                Html::e('input', ['type' => 'text', 'name' => 'value', 'value' => $value ?? '',
                    'id' => "k-$key", 'aria-describedby' => "m-$key", 'placeholder' => $default]),
                $this->context->button($this->t('Save'), '', $key)
            ), ['class' => 'row']) : Html::e('p', [], $value ?? $default),
            $this->t('Allowed: %s. Default: %s.', $about['range'], $default)
        );
    }

    /** @param array{type: string, range: string, default: string, meaning: string} $about */
    private function kept(string $key, array $about): Html
    {
        $value = $this->context->queue->config($key) ?? '–';
        $value = $about['type'] === 'secret' && $value !== '–' ? '(set)' : $value;
        $isTime = $about['type'] === 'time' && preg_match('/\A\d{1,18}\z/', $value) === 1;
        $value = $isTime ? $this->context->texts->time((int) $value) : $value;
        $name = Html::e('strong', [], $key);
        return $this->item($name, "m-$key", $about, Html::e('p', [], $value), '');
    }

    /** @param array{meaning: string} $about */
    private function item(Html $name, string $id, array $about, Html $value, string $range): Html
    {
        return Html::e(
            'li',
            [],
            $name,
            $value,
            Html::e(
                'p',
                ['id' => $id, 'class' => 'note'],
                $this->t($about['meaning']) . " $range"
            )
        );
    }
}
