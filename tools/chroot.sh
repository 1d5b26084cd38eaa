# Debian in a directory, for tools/matrix; sourced, never run. The mirror is the one that this
# machine's apt uses. What is made stays below $MQ_CACHE, outside the tree, for the next time.

MQ_CACHE=${MQ_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mailqueue}
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# mirror_of PATTERN: the address of the first release whose codename matches, as apt here has it.
mirror_of() {
    apt-get indextargets --format '$(REPO_URI) $(CODENAME)' "Created-By: Packages" |
        awk -v pattern="$1" '$2 ~ pattern { print $1; found = 1; exit } END { exit !found }'
}

debian_mirror() { mirror_of '^[a-z]+$' || die "apt of this machine knows no mirror of Debian"; }

# sources_of SUITE: lines of sources.list. The indexes of unstable and experimental expire after a
# week, and a mirror may be older.
sources_of() {
    local mirror security
    mirror=$(debian_mirror) || return
    case $1 in
    unstable)
        printf "deb [check-valid-until=no signed-by=$KEYRING] $mirror %s main\n" \
            unstable experimental
        ;;
    *)
        printf "%s [signed-by=$KEYRING] $mirror $1 main\n" deb deb-src
        ! security=$(mirror_of '-security$') ||
            printf "%s [signed-by=$KEYRING] $security $1-security main\n" deb deb-src
        ;;
    esac
}

# chroot_make DIRECTORY SUITE
chroot_make() {
    local directory=$1 suite=$2 mirror
    [ ! -e "$directory/made" ] || return 0
    [ "$(id -u)" = 0 ] || die "a chroot is made as root"
    command -v debootstrap >/dev/null || die "debootstrap is missing: run tools/setup matrix"
    mirror=$(debian_mirror) || return
    note "debootstrap $suite in $directory …"
    rm -rf --one-file-system "$directory"
    mkdir -p "$directory"
    quietly "$directory.log" debootstrap --variant=minbase --include=ca-certificates \
        --keyring="$KEYRING" "$suite" "$directory" "$mirror" || die "debootstrap $suite failed"
    sources_of "$suite" >"$directory/etc/apt/sources.list"
    apt-config dump --format '%F "%v";%n' Acquire::http Acquire::https | grep -v ' "";$' \
        >"$directory/etc/apt/apt.conf.d/10machine" || true
    # Files that a power failure loses are made again.
    echo force-unsafe-io >"$directory/etc/dpkg/dpkg.cfg.d/unsafe-io"
    touch "$directory/made"
}

# chroot_run DIRECTORY COMMAND...: as root, in namespaces of its own, so that nothing that it mounts
# or starts stays. The network is the machine's, and so are the certificates that it trusts: a
# machine may reach the registries through a proxy that has one of its own.
chroot_run() {
    local directory=$1
    shift
    cp -L /etc/resolv.conf /etc/hosts "$directory/etc/"
    cp -L /etc/ssl/certs/ca-certificates.crt "$directory/etc/ssl/certs/"
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -c '
        mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" &&
            mount -t proc proc "$1/proc" || exit 1
        directory=$1
        shift
        exec chroot "$directory" /usr/bin/env -i HOME=/root TERM=xterm LC_ALL=C.UTF-8 \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
    ' sh "$directory" "$@"
}

# chroot_clone DIRECTORY: this tree as it is committed, in a home that only root may enter.
chroot_clone() {
    local clone=$1/root/mailqueue
    chmod 700 "$1/root"
    [ -d "$clone/.git" ] || git init -q "$clone"
    git -C "$clone" fetch -q --force "$MQ_ROOT" HEAD
    git -C "$clone" checkout -q --force --detach FETCH_HEAD
    git -C "$clone" clean -qfd
}
