# Completion of parlor for bash. Made by `parlor manual --form bash`; changes belong into Sources/parlor/VerbSyntax.swift.
_parlor() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} options="" words="" operand=0 index
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "run provision confirm keep-connections demo peer check status stats metrics logs screenshot identify overlay volume call open reload restart reboot config update factory-reset support-bundle blank gamma tap type key install-update manual version help" -- "$current"))
    return
  fi
  case $previous in
    --data) COMPREPLY=($(compgen -W "on off" -- "$current")); return ;;
    --video) COMPREPLY=($(compgen -W "on off" -- "$current")); return ;;
    --audio|--bitrate|--ca|--codec|--config|--data|--describe|--direction|--form|--from|--ice-server|--lines|--packetization-mode|--patience|--rate|--record|--root|--runtime|--screenshot|--seconds|--since|--size|--stage|--state|--timeout|--video) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  for ((index = 2; index < COMP_CWORD; index++)); do
    case ${COMP_WORDS[index]} in
      --audio|--bitrate|--ca|--codec|--config|--data|--describe|--direction|--form|--from|--ice-server|--lines|--packetization-mode|--patience|--rate|--record|--root|--runtime|--screenshot|--seconds|--since|--size|--stage|--state|--timeout|--video) index=$((index + 1)) ;;
      -?*) ;;
      *) operand=$((operand + 1)) ;;
    esac
  done
  case ${COMP_WORDS[1]} in
    run)
      options="--config --stage --state --runtime --help"
      ;;
    provision)
      options="--from --root --help"
      ;;
    confirm)
      options="--patience --runtime --help"
      ;;
    keep-connections)
      options="--help"
      ;;
    demo)
      options="--direct --seconds --screenshot --json --help"
      ;;
    peer)
      options="--offer --answer --codec --packetization-mode --audio --video --data --direction --seconds --timeout --ice-server --ca --relay-only --conceal --size --rate --bitrate --record --help"
      ;;
    check)
      options="--config --devices --describe --runtime --json --help"
      ;;
    status)
      options="--runtime --json --help"
      ;;
    stats)
      options="--watch --runtime --json --help"
      ;;
    metrics)
      options="--runtime --json --help"
      ;;
    logs)
      options="--follow --lines --since --json --help"
      ;;
    screenshot)
      options="--runtime --help"
      ;;
    identify)
      options="--runtime --help"
      case $operand in
      0) words="off" ;;
      esac
      ;;
    overlay)
      options="--runtime --help"
      case $operand in
      0) words="on off" ;;
      esac
      ;;
    volume)
      options="--runtime --json --help"
      case $operand in
      0) words="mute" ;;
      esac
      ;;
    call)
      options="--runtime --help"
      case $operand in
      0) words="start hangup" ;;
      esac
      ;;
    open)
      options="--runtime --help"
      ;;
    reload)
      options="--runtime --help"
      ;;
    restart)
      options="--runtime --help"
      case $operand in
      0) words="page call app box" ;;
      esac
      ;;
    reboot)
      options="--help"
      ;;
    config)
      options="--json --help"
      case $operand in
      0) words="get set unset apply" ;;
      esac
      ;;
    update)
      options="--allow-downgrade --json --help"
      ;;
    factory-reset)
      options="--yes --help"
      ;;
    support-bundle)
      options="--config --runtime --help"
      ;;
    blank)
      options="--runtime --help"
      case $operand in
      0) words="on off auto" ;;
      esac
      ;;
    gamma)
      options="--runtime --help"
      case $operand in
      0) words="auto" ;;
      esac
      ;;
    tap)
      options="--runtime --help"
      ;;
    type)
      options="--runtime --help"
      ;;
    key)
      options="--runtime --help"
      ;;
    install-update)
      options="--help"
      ;;
    manual)
      options="--form --help"
      ;;
    version)
      options="--json --help"
      ;;
    help)
      options="--help"
      case $operand in
      0) words="run provision confirm keep-connections demo peer check status stats metrics logs screenshot identify overlay volume call open reload restart reboot config update factory-reset support-bundle blank gamma tap type key install-update manual version help" ;;
      esac
      ;;
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -F _parlor parlor
