#compdef mailqueue
# Completion of mailqueue for zsh. tools/share writes this file.
_mailqueue() {
    local -a commands specs
    local command word
    commands=(
        @commands@
    )
    specs=(
        @global@
    )
    for word in ${words[2,CURRENT-1]}; do
        if (( ${commands[(I)$word:*]} )); then
            command=$word
            break
        fi
    done
    case $command in
    '')
        specs+=('1:command:->commands')
        ;;
    @cases@
    esac
    if [[ -n $command ]]; then
        # The command itself is not an argument.
        local at=${words[(i)$command]}
        words[at]=()
        (( CURRENT-- ))
    fi
    local context state state_descr line
    typeset -A opt_args
    _arguments -S $specs && return
    [[ $state = commands ]] && _describe -t commands command commands
}
_mailqueue "$@"
