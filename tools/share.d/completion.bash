# Completion of mailqueue for bash. tools/share writes this file.
_mailqueue() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command='' options='' values='' i
    # bash makes three words of --name=value.
    if [ "$current" = = ]; then
        current=''
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case " @commands@ " in
        *" ${COMP_WORDS[i]} "*)
            command=${COMP_WORDS[i]}
            break
            ;;
        esac
    done
    case $command in
    @options@
    esac
    case "$command $before" in
    @values@
    *)
        before=''
        case $command in
        '') values='@commands@' ;;
        @arguments@
        esac
        case $current in
        -*) values="$options @global@" ;;
        esac
        ;;
    esac
    COMPREPLY=()
    if [ "$values" = '<files>' ]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
        case ${COMPREPLY[0]-} in
        --*=) compopt -o nospace 2>/dev/null ;;
        esac
    fi
}
complete -F _mailqueue mailqueue
