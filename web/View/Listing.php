<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Job;
use MailQueue\Web\Html;

/** Lists mails, and for admins what can be done with many of them. */
abstract class Listing extends View
{
    /**
     * @param array<string, string> $head the columns' words, in English
     * @param list<Job> $jobs
     * @param \Closure(Job): array<string, Html|string> $row
     * @param array<string, string> $actions their words, in English
     * @param string $all which mails are all, in English
     * @param array<string, string> $fields the filter that finds all
     */
    protected function list(
        array $head,
        array $jobs,
        \Closure $row,
        array $actions,
        string $all,
        array $fields = []
    ): Html {
        $isAdmin = $this->context->isAdmin();
        $head = ($isAdmin ? ['mark' => 'Mark'] : []) + $head;
        $rows = array_map(fn (Job $job): array
            => ($isAdmin ? ['mark' => $this->mark($job)] : []) + $row($job), $jobs);
        $table = self::table($this->title(), array_map($this->t(...), $head), $rows);
        if (!$isAdmin) {
            return $table;
        }
        $which = Html::e(
            'div',
            ['class' => 'row bulk'],
            Html::e('label', ['for' => 'which'], $this->t('Of these mails')),
            Html::e(
                'select',
                ['name' => 'which', 'id' => 'which'],
                Html::e('option', ['value' => 'marked'], $this->t('those that are marked')),
                Html::e('option', ['value' => 'all'], $this->t($all))
            ),
            array_map(
                fn (string $action, string $text): Html => Html::e('button', ['type' => 'submit',
                'name' => 'action', 'value' => $action], $this->t($text)),
                array_keys($actions),
                array_values($actions)
            )
        );
        return $this->context->form('', $fields, Html::all($which, $table));
    }

    private function mark(Job $job): Html
    {
        return Html::e('input', ['type' => 'checkbox', 'name' => 'ids[]', 'value' => $job->id,
            'aria-label' => $this->t('Mark mail %s', $job->id)]);
    }
}
