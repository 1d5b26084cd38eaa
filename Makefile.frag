# phpize sets no bindir, so the command goes beside the php it was configured for.
install: install-mailqueue-command

MAILQUEUE_CLI = $(INSTALL_ROOT)$(prefix)/share/mailqueue/cli

# The classes are renamed into place as a whole: a run that begins meanwhile finds those of one
# version (between the two renames none), and none stay that the next version has no more. Whoever
# may run it may read them, whatever the umask is. PECL has put the command itself, a script, into
# its bin_dir: it is not here then.
install-mailqueue-command:
	@echo "Installing the mailqueue command:  $(INSTALL_ROOT)$(prefix)/bin/"
	@$(mkinstalldirs) $(INSTALL_ROOT)$(prefix)/bin
	@rm -rf $(MAILQUEUE_CLI).new $(MAILQUEUE_CLI).old
	@for directory in `cd $(srcdir)/cli && find . -type d`; do \
		$(mkinstalldirs) $(MAILQUEUE_CLI).new/$$directory && \
		$(INSTALL) -m 644 $(srcdir)/cli/$$directory/*.php \
			$(MAILQUEUE_CLI).new/$$directory/ || exit 1; \
	done
	@chmod 755 `dirname $(MAILQUEUE_CLI)`
	@find $(MAILQUEUE_CLI).new -type d -exec chmod 755 {} +
	@if test -d $(MAILQUEUE_CLI); then mv $(MAILQUEUE_CLI) $(MAILQUEUE_CLI).old; fi
	@mv $(MAILQUEUE_CLI).new $(MAILQUEUE_CLI)
	@rm -rf $(MAILQUEUE_CLI).old
	@if test -f $(srcdir)/bin/mailqueue; then \
		$(INSTALL) -m 755 $(srcdir)/bin/mailqueue $(INSTALL_ROOT)$(prefix)/bin/mailqueue; fi

# What `make install` put there, and nothing else.
uninstall:
	@echo "Removing the mailqueue extension and command"
	@rm -f $(INSTALL_ROOT)$(EXTENSION_DIR)/mailqueue.so $(INSTALL_ROOT)$(prefix)/bin/mailqueue
	@rm -rf $(INSTALL_ROOT)$(prefix)/share/mailqueue

.PHONY: install-mailqueue-command uninstall

# The arginfo is part of the source. phpize's pattern rule would make it anew whenever a checkout
# happened to leave the stub as the newer file, and download a parser for that.
stubs/mailqueue_arginfo.h $(srcdir)/stubs/mailqueue_arginfo.h: ;
