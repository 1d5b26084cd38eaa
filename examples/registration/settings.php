<?php

// What a site would set for itself.
return [
    // Outside the document root: nobody can fetch it with a browser.
    'database' => getenv('REGISTRATION_DATABASE') ?: __DIR__ . '/var/registrations.sqlite',
    'from' => 'Summer School <school@example.org>',
    'organizer' => 'Organizer <organizer@example.org>',
    // Mails for each registration: "user", "organizer" or both.
    'mails' => explode(',', getenv('REGISTRATION_MAILS') ?: 'user,organizer'),
    'url' => getenv('REGISTRATION_URL') ?: 'http://localhost:8080',
];
