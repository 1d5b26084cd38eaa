# Completion of mailqueue for fish. tools/share writes this file.
