# phpize sets no bindir, so the command goes beside the php it was configured for.
install: install-mailqueue-command install-mailqueue-share

MAILQUEUE_CLASSES = $(INSTALL_ROOT)$(prefix)/share/mailqueue

# The classes (cli: the command's, web: the page's) are renamed into place together: a run that
# starts meanwhile finds the classes of one version (between the two renames none), and classes that
# a new version no longer has disappear. Every user can read them, whatever the umask is. Under
# PECL, bin/mailqueue is not here: PECL has installed it, as a script, in its bin_dir.
install-mailqueue-command:
	@echo "Installing the mailqueue command:  $(INSTALL_ROOT)$(prefix)/bin/"
	@umask 022 && $(mkinstalldirs) $(INSTALL_ROOT)$(prefix)/bin
	@umask 022 && for classes in cli web; do \
		to=$(MAILQUEUE_CLASSES)/$$classes; rm -rf $$to.new $$to.old; \
		(cd $(srcdir) && find $$classes/ -type f) | while read file; do \
			$(mkinstalldirs) $$to.new/`dirname $${file#$$classes/}` && \
			$(INSTALL) -m 644 $(srcdir)/$$file $$to.new/$${file#$$classes/} || exit 1; \
		done || exit 1; \
		find $$to.new -type d -exec chmod 755 {} +; \
	done
	@chmod 755 $(MAILQUEUE_CLASSES)
	@for classes in cli web; do \
		to=$(MAILQUEUE_CLASSES)/$$classes; \
		if test -d $$to; then mv $$to $$to.old; fi; \
		mv $$to.new $$to && rm -rf $$to.old || exit 1; \
	done
	@if test -f $(srcdir)/bin/mailqueue; then \
		$(INSTALL) -m 755 $(srcdir)/bin/mailqueue $(INSTALL_ROOT)$(prefix)/bin/mailqueue; fi

MAILQUEUE_SHARE = $(INSTALL_ROOT)$(prefix)/share
MAILQUEUE_PAGES = man/man1/mailqueue.1 man/man5/mailqueue.5 \
	bash-completion/completions/mailqueue fish/vendor_completions.d/mailqueue.fish
# Debian's zsh looks into vendor-completions for packages below /usr.
MAILQUEUE_ZSH = `if test -e /etc/debian_version && test "$(prefix)" = /usr; \
	then echo zsh/vendor-completions; else echo zsh/site-functions; fi`

# The manual, the shells' completions, and units for systemd with files for cron and logrotate,
# which an administrator copies: an installation switches no service on.
install-mailqueue-share:
	@echo "Installing the manual and examples:  $(MAILQUEUE_SHARE)/"
	@umask 022 && for file in $(MAILQUEUE_PAGES); do \
		$(mkinstalldirs) $(MAILQUEUE_SHARE)/`dirname $$file` && \
		$(INSTALL) -m 644 $(srcdir)/share/$$file $(MAILQUEUE_SHARE)/$$file || exit 1; \
	done
	@umask 022 && $(mkinstalldirs) $(MAILQUEUE_SHARE)/$(MAILQUEUE_ZSH) && \
		$(INSTALL) -m 644 $(srcdir)/share/zsh/site-functions/_mailqueue \
			$(MAILQUEUE_SHARE)/$(MAILQUEUE_ZSH)/
	@umask 022 && $(mkinstalldirs) $(MAILQUEUE_SHARE)/mailqueue/service && \
		for file in $(srcdir)/share/mailqueue/service/*; do \
			sed -e 's|/usr/bin/mailqueue|$(prefix)/bin/mailqueue|' \
				-e 's|/usr/bin/php|$(PHP_EXECUTABLE)|' $$file \
				>$(MAILQUEUE_SHARE)/mailqueue/service/`basename $$file` || exit 1; \
		done

# What `make install` put there, and nothing else.
uninstall:
	@echo "Removing the mailqueue extension and command"
	@rm -f $(INSTALL_ROOT)$(EXTENSION_DIR)/mailqueue.so $(INSTALL_ROOT)$(prefix)/bin/mailqueue
	@rm -rf $(MAILQUEUE_SHARE)/mailqueue
	@for file in $(MAILQUEUE_PAGES) $(MAILQUEUE_ZSH)/_mailqueue; do \
		rm -f $(MAILQUEUE_SHARE)/$$file; \
	done

.PHONY: install-mailqueue-command install-mailqueue-share uninstall

# The arginfo is part of the source. phpize's pattern rule would generate it again, and download
# a parser for that, whenever a checkout happened to leave the stub as the newer file.
stubs/mailqueue_arginfo.h $(srcdir)/stubs/mailqueue_arginfo.h: ;
