# phpize sets no bindir, so the command goes beside the php it was configured for.
install: install-mailqueue-command

install-mailqueue-command:
	@echo "Installing the mailqueue command:  $(INSTALL_ROOT)$(prefix)/bin/"
	@$(mkinstalldirs) $(INSTALL_ROOT)$(prefix)/bin
	@$(INSTALL) -m 755 $(srcdir)/bin/mailqueue $(INSTALL_ROOT)$(prefix)/bin/mailqueue

.PHONY: install-mailqueue-command

# The arginfo is part of the source. phpize's pattern rule would make it anew whenever a checkout
# happened to leave the stub as the newer file, and download a parser for that.
stubs/mailqueue_arginfo.h $(srcdir)/stubs/mailqueue_arginfo.h: ;
