#!/usr/bin/env zsh
# Prints what an interactive zsh offers after a TAB: complete.zsh DIRECTORY LINE
# DIRECTORY has the completion (_mailqueue).
zmodload zsh/zpty || exit 1
setup=$(mktemp)
cat >$setup <<'ZSH'
PROMPT=
autoload -Uz compinit
compinit -u -D
bindkey '^M' undefined
bindkey '^J' undefined
bindkey '^I' complete-word
null-line() { print -r -- $'\0' }
compprefuncs=(null-line)
comppostfuncs=(null-line exit)
zstyle ':completion:*' insert-tab false
compadd() {
    # With -O, -A or -D it only asks.
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits
    builtin compadd -A hits "$@"
    (( $#hits )) && print -rl -- $hits
    builtin compadd "$@"
}
print ready
ZSH
zpty z zsh -f -i
zpty -w z "fpath=(${(q)1} \$fpath); source $setup"
while zpty -r z line; do
    [[ $line == ready* ]] && break
done
zpty -w z "$2"$'\t'
while zpty -r z line; do
    print -r -- ${line%$'\r\n'}
done 2>/dev/null | awk '/\0/ { if (seen++) exit; next } seen' | sort -u
rm -f $setup
