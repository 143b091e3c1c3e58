/**
 * Scripts that complete the command line in a shell, generated from the tree of commands.
 *
 * Owns: the scripts. Knows nothing of: any command. Rule: names and texts are quoted, although they come from our own tree.
 */
import type { Argument, Command, Option } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

interface Completed {
  readonly name: string
  readonly about: string
}

/** A command with all words that may follow it. */
interface Place {
  /** Without the name of the program: `tenant create`; empty for the program itself. */
  readonly path: string
  readonly commands: readonly Completed[]
  readonly options: readonly Completed[]
  /** An argument is a bucket or a path in the store. */
  readonly takesPath: boolean
  /** The values of options and arguments with a closed list: by the long name of the option; by the empty text for arguments. */
  readonly choices: ReadonlyMap<string, readonly string[]>
}

export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program, '')
  return { bash, zsh, fish }[shell](program.name(), places)
}

/** Arguments that `holdfast complete` knows names for. */
const PATHS: readonly string[] = ['path', 'bucket', 'from', 'to', 'first', 'second']

function placesOf(command: Command, path: string): readonly Place[] {
  const help = { name: '--help', about: 'display help for command' }
  const options = command.options.filter(({ hidden }) => !hidden)
  const place = {
    path,
    commands: command.commands.map((inner) => ({ name: inner.name(), about: inner.description() })),
    options: [
      ...options.map(({ long, short, description }) => ({ name: long ?? short ?? '', about: description })),
      help,
    ],
    takesPath: command.registeredArguments.some((one) => PATHS.includes(one.name())),
    choices: new Map([
      ...options.flatMap(choicesOfOption),
      ...choicesOfArguments(command.registeredArguments),
    ]),
  }
  const inner = command.commands.flatMap((one) =>
    placesOf(one, path === '' ? one.name() : `${path} ${one.name()}`),
  )
  return [place, ...inner]
}

function choicesOfOption({ long, argChoices }: Option): readonly (readonly [string, readonly string[]])[] {
  return long === undefined || argChoices === undefined ? [] : [[long, argChoices]]
}

function choicesOfArguments(given: readonly Argument[]): readonly (readonly [string, readonly string[]])[] {
  const all = given.flatMap(({ argChoices }) => argChoices ?? [])
  return all.length === 0 ? [] : [['', all]]
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const names = (all: readonly Completed[]): string => all.map(({ name }) => name).join(' ')

/** Offers the words that may follow, and file names where none is known. */
function bash(name: string, places: readonly Place[]): string {
  const cases = places.flatMap(({ path, commands, options, choices }) => [
    ...[...choices]
      .filter(([option]) => option !== '')
      .map(
        ([option, values]) =>
          `    ${quoted(`${path} ${option}`.trim())}) words=${quoted(values.join(' '))} ;;`,
      ),
    `    ${quoted(`${path} -`.trim())}) words=${quoted(names(options))} ;;`,
    `    ${quoted(path)}) words=${quoted([names(commands), ...(choices.get('') ?? [])].join(' ').trim())} ;;`,
  ])
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const remote = pathPlaces(places)
  return `# Completion of ${name} for bash: source it, or put it into /etc/bash_completion.d.
_${name}_words() {
  local words=''
  case "$1" in
${cases.join('\n')}
  esac
  printf '%s' "$words"
}
_${name}() {
  local path='' word word_before="\${COMP_WORDS[COMP_CWORD-1]}" current="\${COMP_WORDS[COMP_CWORD]}" found
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${paths.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  found=''
  if [[ $word_before == --* ]]; then found="$(_${name}_words "\${path:+$path }$word_before")"; fi
  if [[ -z $found && $current == -* ]]; then found="$(_${name}_words "\${path:+$path }-")"; fi
  if [[ -z $found ]]; then found="$(_${name}_words "$path")"; fi
  COMPREPLY=($(compgen -W "$found" -- "$current" || true))
  if [[ $current == -* || $word_before == --* ]]; then return 0; fi
  case "$path" in
    ${remote})
      COMPREPLY+=($(${name} complete -- "$current" 2>/dev/null || true) $(compgen -f -- "$current" || true))
      if [[ \${COMPREPLY[0]:-} == */ ]]; then compopt -o nospace 2>/dev/null || true; fi ;;
  esac
}
complete -o bashdefault -o default -F _${name} ${name}
`
}

const pathPlaces = (places: readonly Place[]): string =>
  places
    .filter(({ takesPath }) => takesPath)
    .map(({ path }) => quoted(path))
    .join('|')

const forZsh = ({ name, about }: Completed): string =>
  quoted(`${name}:${about.replaceAll('\\', '\\\\').replaceAll(':', '\\:')}`)

function zsh(name: string, places: readonly Place[]): string {
  const cases = places.map(({ path, commands, options, choices }) => {
    const values = [...choices].filter(([option]) => option !== '')
    const ofOptions = values.map(
      ([option, all]) => `        ${option}) compadd -- ${all.map(quoted).join(' ')}; return ;;`,
    )
    const list =
      commands.length > 0 ? commands : (choices.get('') ?? []).map((one) => ({ name: one, about: '' }))
    return `    ${quoted(path)})
      case $words[CURRENT-1] in
${ofOptions.join('\n')}
      esac
      if [[ $words[CURRENT] == -* ]]; then found=(${options.map(forZsh).join(' ')})
      else found=(${list.map(forZsh).join(' ')}); fi ;;`
  })
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `#compdef ${name}
# Completion of ${name} for zsh: put it into a folder of $fpath as _${name}, or source it after compinit.
_${name}() {
  local place='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${place:+$place }$word" in
      ${paths.join('|')}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  if [[ $words[CURRENT] != -* ]]; then
    case "$place" in
      ${pathPlaces(places)}) compadd -S '' -- \${(f)"$(${name} complete -- "$words[CURRENT]" 2>/dev/null)"} ;;
    esac
  fi
  if (( $#found )); then _describe '${name}' found; else _files; fi
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`
}

function fish(name: string, places: readonly Place[]): string {
  const isHere = ({ path }: Place): string =>
    quoted(`test "$(__${name}_place)" = ${path === '' ? '""' : `"${path}"`}`)
  const lines = places.flatMap((place) => [
    ...place.commands.map(
      (one) => `complete -c ${name} -f -n ${isHere(place)} -a ${one.name} -d ${quoted(one.about)}`,
    ),
    ...place.options.map(({ name: option, about }) => {
      const values = place.choices.get(option)
      const taken = values === undefined ? '' : ` -x -a ${quoted(values.join(' '))}`
      return `complete -c ${name} -n ${isHere(place)} -l ${option.replace(/^--/, '')} -d ${quoted(about)}${taken}`
    }),
    ...(place.takesPath
      ? [`complete -c ${name} -n ${isHere(place)} -a '(${name} complete -- (commandline -ct) 2>/dev/null)'`]
      : []),
    ...(place.choices.get('') ?? []).map(
      (value) => `complete -c ${name} -f -n ${isHere(place)} -a ${quoted(value)}`,
    ),
  ])
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `# Completion of ${name} for fish: put it into ~/.config/fish/completions/${name}.fish.
function __${name}_place
  set -l place
  for word in (commandline -opc)[2..-1]
    if contains -- (string join ' ' $place $word) ${paths.join(' ')}
      set place $place $word
    end
  end
  string join ' ' $place
end
${lines.join('\n')}
`
}
