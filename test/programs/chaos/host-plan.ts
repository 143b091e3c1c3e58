/**
 * The hosts of a run and the wires between them, as commands for `ip` and `tc`.
 *
 * Owns: names, addresses, filters. Knows nothing of: processes, when a wire is cut. Pure.
 * Rule: every two hosts have a wire of their own, so that a fault of one pair affects no other host.
 *
 *   10.77.0.N     what the others know host N by; on its own loopback, reached over the wire of the pair
 *   10.78.N.1/.2  the hub, where the clients are, and host N
 *   10.(100+A).B.1/.2  the two ends of the wire of hosts A and B
 *   10.76.0.1     the hub, as all hosts know it
 */
export type Command = readonly string[]

/** That a run begins with. */
export const HOSTS_MAX = 9
/** In all its life: each has a byte of an address, and numbers are not used again. */
export const HOSTS_EVER_MAX = 150
export const PORTS = { data: 9000, admin: 9001, peer: 9002, standIn: 9003 } as const

/** Two hosts, by their numbers from 1 on. */
export interface Pair {
  readonly a: number
  readonly b: number
}

/** What travels from one host to another. */
export interface Way {
  readonly from: number
  readonly to: number
}

/** Of a second site, at the hub. */
export const SITE_ADDRESS = '10.76.0.1'

export const spaceOf = (host: number): string => `n${host}`
export const hostOf = (space: string): number => Number(space.slice(1))
export const knownAddress = (host: number): string => `10.77.0.${host}`
export const clientAddress = (host: number): string => `10.78.${host}.2`

/** Of `at`, on its wire to the other one. */
export function wireAddress({ at, other }: { readonly at: number; readonly other: number }): string {
  return `10.${100 + Math.min(at, other)}.${Math.max(at, other)}.${at < other ? 1 : 2}`
}

const device = (other: number): string => `to-${spaceOf(other)}`

/** One host, wired to the hub. */
export function hostCommands(host: number): readonly Command[] {
  const space = spaceOf(host)
  const hub = `hub-${space}`
  return [
    ['ip', 'netns', 'add', space],
    ['ip', '-n', space, 'link', 'set', 'lo', 'up'],
    ['ip', '-n', space, 'addr', 'add', `${knownAddress(host)}/32`, 'dev', 'lo'],
    ['ip', 'link', 'add', hub, 'type', 'veth', 'peer', 'name', 'hub', 'netns', space],
    ['ip', 'addr', 'add', `10.78.${host}.1/30`, 'dev', hub],
    ['ip', 'link', 'set', hub, 'up'],
    ['ip', '-n', space, 'addr', 'add', `${clientAddress(host)}/30`, 'dev', 'hub'],
    ['ip', '-n', space, 'link', 'set', 'hub', 'up'],
    ['ip', '-n', space, 'route', 'add', `${SITE_ADDRESS}/32`, 'via', `10.78.${host}.1`],
  ]
}

/** All of it, and its ends of all wires: the kernel takes the other ends away with them. */
export function removeCommands(host: number): readonly Command[] {
  return [['ip', 'netns', 'del', spaceOf(host)]]
}

/** The wire of a pair: addresses, routes, and a place for a filter at both ends. */
export function wireCommands({ a, b }: Pair): readonly Command[] {
  const ends = [
    { at: a, other: b },
    { at: b, other: a },
  ]
  return [
    [
      'ip',
      'link',
      'add',
      device(b),
      'netns',
      spaceOf(a),
      'type',
      'veth',
      'peer',
      'name',
      device(a),
      'netns',
      spaceOf(b),
    ],
    ...ends.flatMap(({ at, other }): Command[] => [
      ['ip', '-n', spaceOf(at), 'addr', 'add', `${wireAddress({ at, other })}/30`, 'dev', device(other)],
      ['ip', '-n', spaceOf(at), 'link', 'set', device(other), 'up'],
      ['tc', '-n', spaceOf(at), 'qdisc', 'add', 'dev', device(other), 'clsact'],
    ]),
    // A route needs both ends up.
    ...ends.map(({ at, other }): Command => {
      const via = wireAddress({ at: other, other: at })
      return [
        'ip',
        '-n',
        spaceOf(at),
        'route',
        'add',
        `${knownAddress(other)}/32`,
        'via',
        via,
        'dev',
        device(other),
      ]
    }),
  ]
}

const DROP = 2
const PASS = 2 ** 32 - 1
/** The extension of classic BPF that gives a random word. [linux/filter.h: SKF_AD_RANDOM] */
const RANDOM_WORD = 2 ** 32 - 0x1000 + 56
const [LOAD, JUMP_IF_GREATER, RETURN] = [0x20, 0x25, 0x06]

/**
 * This share of arriving packets is dropped, without notice to the sender. The kernel may have neither netem nor actions, so the
 * filter decides by itself: a few instructions of BPF.
 */
export function dropCommand({ from, to }: Way, percent: number): Command {
  const spared = Math.floor((1 - percent / 100) * PASS)
  const program =
    percent >= 100
      ? [[RETURN, 0, 0, DROP]]
      : [
          [LOAD, 0, 0, RANDOM_WORD],
          [JUMP_IF_GREATER, 0, 1, spared],
          [RETURN, 0, 0, DROP],
          [RETURN, 0, 0, PASS],
        ]
  const bytecode = [`${program.length}`, ...program.map((instruction) => instruction.join(' '))].join(',')
  return [...filterOf('add', { from, to }), 'bpf', 'da', 'bytecode', bytecode]
}

export function passCommand(way: Way): Command {
  return filterOf('del', way)
}

function filterOf(verb: 'add' | 'del', { from, to }: Way): Command {
  return ['tc', '-n', spaceOf(to), 'filter', verb, 'dev', device(from), 'ingress']
}

/** Puts the address of another host on this one, where a proxy then replaces it, or removes the address. */
export function standInCommand(verb: 'add' | 'del', { from, to }: Way): Command {
  return ['ip', '-n', spaceOf(from), 'addr', verb, `${knownAddress(to)}/32`, 'dev', 'lo']
}

export function inSpace(host: number, command: Command): Command {
  return ['ip', 'netns', 'exec', spaceOf(host), ...command]
}

export function pairsOf(hosts: readonly number[]): readonly Pair[] {
  return hosts.flatMap((a) => hosts.filter((b) => b > a).map((b) => ({ a, b })))
}
