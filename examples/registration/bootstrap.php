<?php

declare(strict_types=1);

// For `mailqueue work --bootstrap`: the queue, and what a job's mail says at the time it is sent.

require_once __DIR__ . '/src/Registrations.php';

$settings = require __DIR__ . '/settings.php';
$registrations = new Registrations($settings);
$registrations->queueMissing();

return [
    'queue' => $registrations->queue(),
    'compose' => static function (MailQueue\Job $job) use ($registrations, $settings): ?array {
        $person = $registrations->find((string) $job->reference);
        if ($person === null) {
            return null; // the registration was deleted: so is this mail
        }
        if ($job->type === 'organizer') {
            return [
                'from' => $settings['from'],
                'to' => $settings['organizer'],
                'subject' => "Registration {$person['number']}: {$person['name']}",
                'text' => "{$person['name']} <{$person['email']}> has registered.\n",
            ];
        }
        $query = ['number' => $person['number'], 'key' => $person['cancel_key']];
        $cancel = $settings['url'] . '/cancel?' . http_build_query($query);
        return [
            'from' => $settings['from'],
            'to' => $person['email'],
            'subject' => "Your registration {$person['number']} – welcome!",
            'text' => "Dear {$person['name']},\n\nyour place at the Summer School is reserved.\n\n"
                . "If you cannot come:\n$cancel\n\nSee you soon\n",
        ];
    },
];
