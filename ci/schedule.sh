# Sourced by the gate: runs steps beside each other, as many at once as there are cores, each as soon as those are done that it needs.
# What a step writes is shown when it ends, with the time that it took. The first one that fails ends all.
# shellcheck shell=bash

step_names=()
declare -A step_title=() step_needs=() step_state=() step_began=() step_of=()
reports=$(mktemp -d)

# step NAME "NAMES OF STEPS THAT IT NEEDS" TITLE: what it does is the function NAME. Of those that could run, the first one does.
step() {
    step_names+=("$1")
    step_needs[$1]=$2 step_title[$1]=$3 step_state[$1]=waits
}

# Where a step exits with UNAVAILABLE, it was not exercised, and neither is what needs it: nobody's failure, and no pass.
not_exercised() {
    echo "NOT EXERCISED: $1: $2" >> "$reports/not-exercised"
    step_state[$1]=left_out
}

is_ready() {
    local need
    for need in ${step_needs[$1]}; do
        case ${step_state[$need]} in
            done) ;;
            left_out) not_exercised "$1" "it needs $need" && return 1 ;;
            *) return 1 ;;
        esac
    done
}

start() {
    local name=$1
    step_state[$name]=runs step_began[$name]=$SECONDS
    # In a process group of its own (-m), so that it can be ended with all that it has started.
    set -m
    {
        export UNAVAILABLE_REASON=$reports/$name.reason
        set +e
        # Not in a condition, where a command that fails would not end it.
        (
            set -e
            "$name"
        )
        status=$?
        # Of the shell, then of what it has waited for.
        times > "$reports/$name.times"
        exit $status
    } > "$reports/$name.log" 2>&1 < /dev/null &
    set +m
    step_of[$!]=$name
}

# Seconds of CPU of a step.
cpu_of() {
    awk '{ for (n = 1; n <= 2; ++n) { split($n, part, /[ms]/); all += 60 * part[1] + part[2] } } END { printf "%d", all }' \
        "$reports/$1.times"
}

end() {
    local name=${step_of[$1]} status=$2 took
    unset "step_of[$1]"
    took=$((SECONDS - step_began[$name]))
    printf '\n== %s (%d s, %d s of CPU)\n' "${step_title[$name]}" $took "$(cpu_of "$name")"
    cat "$reports/$name.log"
    printf '| %s | %d | %d | %d |\n' "${step_title[$name]}" "${step_began[$name]}" $took "$(cpu_of "$name")" >> "$reports/table"
    case $status in
        0) step_state[$name]=done ;;
        "$UNAVAILABLE") not_exercised "$name" "$(cat "$reports/$name.reason")" ;;
        *)
            echo "failed, with status $status: ${step_title[$name]}"
            exit 1
            ;;
    esac
}

end_all() {
    local pid
    for pid in "${!step_of[@]}"; do kill -- "-$pid" 2> /dev/null || true; done
    rm -rf "$reports"
}

# Runs all steps, and prints a table of their times.
run_steps() {
    local name pid status
    trap end_all EXIT
    trap 'exit 130' INT TERM
    while true; do
        for name in "${step_names[@]}"; do
            [ "${#step_of[@]}" -lt "$(nproc)" ] || break
            [ "${step_state[$name]}" = waits ] && is_ready "$name" && start "$name"
        done
        [ "${#step_of[@]}" -gt 0 ] || break
        status=0
        wait -n -p pid || status=$?
        end "$pid" $status
    done
    printf '\n| step | begun, s | took, s | CPU, s |\n|---|---|---|---|\n'
    cat "$reports/table"
    awk -F '|' -v wall=$SECONDS '{ cpu += $5 } END { printf "| all | 0 | %d | %d |\n", wall, cpu }' "$reports/table"
}
