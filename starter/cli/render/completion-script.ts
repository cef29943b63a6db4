export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

interface Verb {
  readonly name: string;
  readonly summary: string;
}

/** The verbs after which a resource is expected. */
const ABOUT_RESOURCES = [
  'start',
  'describe',
  'watch',
  'plan',
  'approve',
  'pause',
  'resume',
  'cancel',
  'skip-shard',
  'retry',
  'rebalance',
] as const;

/** A script that completes verbs, and the ids of running entities after the verbs that take one. */
export function renderCompletion(shell: Shell, verbs: readonly Verb[]): string {
  switch (shell) {
    case 'bash':
      return renderBash(verbs);
    case 'zsh':
      return renderZsh(verbs);
    case 'fish':
      return renderFish(verbs);
  }
}

const renderBash = (verbs: readonly Verb[]): string => `_keelson() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${verbs.map((verb) => verb.name).join(' ')}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
    ${ABOUT_RESOURCES.join('|')})
      COMPREPLY=($(compgen -W "$(keelson completion resources 2>/dev/null)" -- "$word")) ;;
    completion)
      COMPREPLY=($(compgen -W "${SHELLS.join(' ')}" -- "$word")) ;;
  esac
}
complete -o default -F _keelson keelson
`;

const renderZsh = (verbs: readonly Verb[]): string => `#compdef keelson
_keelson() {
  local -a verbs resources
  verbs=(
${verbs.map((verb) => `    ${quote(`${verb.name}:${verb.summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    return
  fi
  case "$words[2]" in
    ${ABOUT_RESOURCES.join('|')})
      resources=(\${(f)"$(keelson completion resources 2>/dev/null)"})
      compadd -a resources ;;
    completion) compadd ${SHELLS.join(' ')} ;;
    *) _files ;;
  esac
}
if [ "$funcstack[1]" = "_keelson" ]; then _keelson "$@"; else compdef _keelson keelson; fi
`;

const renderFish = (verbs: readonly Verb[]): string =>
  [
    ...verbs.map(
      (verb) => `complete -c keelson -n __fish_use_subcommand -f -a ${verb.name} -d ${quote(verb.summary)}`,
    ),
    `complete -c keelson -n '__fish_seen_subcommand_from ${ABOUT_RESOURCES.join(' ')}' -f -a '(keelson completion resources 2>/dev/null)'`,
    `complete -c keelson -n '__fish_seen_subcommand_from completion' -f -a '${SHELLS.join(' ')}'`,
    '',
  ].join('\n');

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
