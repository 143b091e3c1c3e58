/**
 * The namespaces of one run: its own network, mounts and processes.
 *
 * Owns: how it is entered, and whether this machine allows it. Rule: all of it is held by one process. However that ends,
 * the kernel takes networks, disks and processes away with it, so nothing can be left behind and nothing has to be
 * cleaned up.
 */
import { spawnSync } from 'node:child_process'
import { userInfo } from 'node:os'
import type { Command } from './host-plan.ts'
import { dropCommand, hostCommands, SITE_ADDRESS, wireCommands } from './host-plan.ts'

const TRIAL_MS_MAX = 10_000
/** All files of a run are on its own file system, which hides /run of the machine only from the run. */
export const RUN_DIR = '/run'
const NETWORKS = `${RUN_DIR}/netns`

/** The command, to run as the first process of such a corner. Another user than root becomes root of nothing else. */
export function inPrivate(command: Command): Command {
  const user = userInfo().uid === 0 ? [] : ['--user', '--map-root-user']
  const spaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  return ['unshare', ...user, ...spaces, ...command]
}

/** What the first process does before anything else. */
export const ENTRY: readonly Command[] = [
  ['mount', '-t', 'tmpfs', 'tmpfs', RUN_DIR],
  ['mkdir', NETWORKS],
  ['ip', 'link', 'set', 'lo', 'up'],
  ['ip', 'addr', 'add', `${SITE_ADDRESS}/32`, 'dev', 'lo'],
]

/** The search path of programs, including administrative ones, which the path of a service may omit. */
export const SEARCH: string = [process.env['PATH'], '/usr/sbin', '/sbin'].join(':')

/** Null where a run is possible; else why not, in one sentence. `search`: the search path of programs. */
export function obstacle(search: string = SEARCH): string | null {
  if (process.platform !== 'linux') return `namespaces are a thing of Linux, and this is ${process.platform}`
  // Two hosts, one wire, a filter, certificates: all that a run asks for.
  const trial = [...ENTRY, ...hostCommands(1), ...hostCommands(2), ...wireCommands({ a: 1, b: 2 })]
  trial.push(dropCommand({ from: 1, to: 2 }, 50), ['openssl', 'version'])
  const script = ['set -e', ...trial.map(quoted)].join('\n')
  const [program = '', ...args] = inPrivate(['sh', '-c', script])
  const env = { ...process.env, PATH: search }
  const { error, status, stderr } = spawnSync(program, args, { env, timeout: TRIAL_MS_MAX, encoding: 'utf8' })
  if (error !== undefined) return `${program} cannot be run: ${error.message}`
  if (status === 0) return null
  return `a trial failed: ${stderr.trim().split('\n').at(-1) ?? ''}`
}

function quoted(command: Command): string {
  return command.map((word) => `'${word}'`).join(' ')
}
