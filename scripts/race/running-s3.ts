/**
 * A system that already runs on this machine and speaks S3, by a description of the user: how SeaweedFS, Garage and others race without an adapter of their own.
 *
 * Knows nothing of: how it was started. Rules: its processes stay, and so does what is stored; each turn makes a bucket of its own, so turns after the
 * first do not begin on empty folders; only addresses of loopback are asked.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { UsageError } from '../local/options.ts'
import { s3Nodes } from './s3-dialect.ts'
import type { RaceSystem } from './system.ts'

/** The members of the file; all but `pids` are required. */
export interface RunningS3 {
  readonly name: string
  readonly version: string
  /** What is on the disk when an answer leaves. */
  readonly durability: string
  /** One to 16 base addresses, such as `http://127.0.0.1:3900`. */
  readonly endpoints: readonly string[]
  readonly accessKeyId: string
  readonly secretKey: string
  /** Processes whose time, memory and writes count. None: these figures are missing. */
  readonly pids: readonly number[]
  /** A folder on the disk of the nodes, whose flushes are counted. */
  readonly folder: string
}

const LOOPBACK = /^http:\/\/(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/
const LIST_MAX = 16

/** Throws UsageError, which names the member and what it must be. */
export function readRunning(file: string): RunningS3 {
  if (!existsSync(file)) throw new UsageError(`--running: there is no file '${file}'`)
  const found: unknown = parse(readFileSync(file, 'utf8'))
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    throw new UsageError(`--running: '${file}' must have members such as name and endpoints`)
  const members = found as Readonly<Record<string, unknown>>
  const refuse = (member: string, expected: string): never => {
    throw new UsageError(`--running: '${member}' in '${file}' must be ${expected}`)
  }
  const text = (member: string): string => {
    const value = members[member]
    return typeof value === 'string' && value !== '' ? value : refuse(member, 'a text')
  }
  return {
    name: text('name'),
    version: text('version'),
    durability: text('durability'),
    accessKeyId: text('accessKeyId'),
    secretKey: text('secretKey'),
    endpoints:
      listOf(members['endpoints'], 1, isEndpoint) ??
      refuse(
        'endpoints',
        `1 to ${LIST_MAX} addresses such as http://127.0.0.1:3900, of loopback and without a path`,
      ),
    pids: listOf(members['pids'] ?? [], 0, isProcess) ?? refuse('pids', 'ids of processes that run'),
    folder: existsSync(text('folder')) ? text('folder') : refuse('folder', 'a folder that exists'),
  }
}

const isEndpoint = (value: unknown): value is string => typeof value === 'string' && LOOPBACK.test(value)
const isProcess = (value: unknown): value is number =>
  Number.isSafeInteger(value) && existsSync(`/proc/${String(value)}`)

/** Null: not a list of `least` to LIST_MAX such members. */
function listOf<T extends string | number>(
  found: unknown,
  least: number,
  isMember: (value: unknown) => value is T,
): readonly T[] | null {
  if (!Array.isArray(found) || found.length < least || found.length > LIST_MAX) return null
  return found.every(isMember) ? found : null
}

export function runningS3({ accessKeyId, secretKey, ...about }: RunningS3): RaceSystem {
  const { endpoints } = about
  const bucket = `race-${randomBytes(6).toString('hex')}`
  const nodes = s3Nodes({ endpoints, bucket, accessKeyId, secretKey })
  return { ...about, ...nodes, stop: async () => undefined }
}
